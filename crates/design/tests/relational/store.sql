-- A store with twelve tables, as pg_dump writes them.
CREATE TYPE public.order_state AS ENUM ('new', 'paid', 'shipped', 'returned');
CREATE TABLE public.customers (
    id bigint NOT NULL,
    email character varying(255) NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE public.addresses (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    line text NOT NULL,
    is_default boolean DEFAULT false NOT NULL
);
CREATE TABLE public.categories (id integer NOT NULL, parent_id integer, name text NOT NULL);
CREATE TABLE public.products (
    id bigint NOT NULL,
    sku text NOT NULL,
    title text NOT NULL,
    price numeric(12,2) NOT NULL,
    category_id integer NOT NULL
);
CREATE TABLE public.stock (product_id bigint NOT NULL, warehouse_id integer NOT NULL, quantity integer NOT NULL);
CREATE TABLE public.warehouses (id integer NOT NULL, city text NOT NULL);
CREATE TABLE public.orders (
    id uuid NOT NULL,
    customer_id bigint NOT NULL,
    state public.order_state NOT NULL,
    placed_at timestamp with time zone NOT NULL,
    paid_at timestamp with time zone
);
CREATE TABLE public.order_lines (order_id uuid NOT NULL, line integer NOT NULL, product_id bigint NOT NULL, quantity integer NOT NULL);
CREATE TABLE public.payments (id uuid NOT NULL, order_id uuid NOT NULL, amount numeric(12,2) NOT NULL, at timestamp with time zone NOT NULL);
CREATE TABLE public.reviews (product_id bigint NOT NULL, customer_id bigint NOT NULL, stars integer NOT NULL, body text);
CREATE TABLE public.coupons (code text NOT NULL, valid_until date NOT NULL, percent integer NOT NULL);
CREATE TABLE public.wishes (customer_id bigint NOT NULL, product_id bigint NOT NULL, wished_at timestamp with time zone NOT NULL);
ALTER TABLE ONLY public.customers ADD CONSTRAINT customers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.customers ADD CONSTRAINT customers_email_key UNIQUE (email);
ALTER TABLE ONLY public.addresses ADD CONSTRAINT addresses_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.categories ADD CONSTRAINT categories_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.products ADD CONSTRAINT products_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.products ADD CONSTRAINT products_sku_key UNIQUE (sku);
ALTER TABLE ONLY public.products ADD CONSTRAINT products_title_key UNIQUE (category_id, title);
ALTER TABLE ONLY public.stock ADD CONSTRAINT stock_pkey PRIMARY KEY (product_id, warehouse_id);
ALTER TABLE ONLY public.warehouses ADD CONSTRAINT warehouses_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders ADD CONSTRAINT orders_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.order_lines ADD CONSTRAINT order_lines_pkey PRIMARY KEY (order_id, line);
ALTER TABLE ONLY public.order_lines ADD CONSTRAINT order_lines_product_key UNIQUE (order_id, product_id);
ALTER TABLE ONLY public.payments ADD CONSTRAINT payments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reviews ADD CONSTRAINT reviews_pkey PRIMARY KEY (product_id, customer_id);
ALTER TABLE ONLY public.coupons ADD CONSTRAINT coupons_pkey PRIMARY KEY (code);
ALTER TABLE ONLY public.wishes ADD CONSTRAINT wishes_pkey PRIMARY KEY (customer_id, product_id);
ALTER TABLE ONLY public.addresses ADD CONSTRAINT a1 FOREIGN KEY (customer_id) REFERENCES public.customers(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.categories ADD CONSTRAINT a2 FOREIGN KEY (parent_id) REFERENCES public.categories(id);
ALTER TABLE ONLY public.products ADD CONSTRAINT a3 FOREIGN KEY (category_id) REFERENCES public.categories(id);
ALTER TABLE ONLY public.stock ADD CONSTRAINT a4 FOREIGN KEY (product_id) REFERENCES public.products(id);
ALTER TABLE ONLY public.stock ADD CONSTRAINT a5 FOREIGN KEY (warehouse_id) REFERENCES public.warehouses(id);
ALTER TABLE ONLY public.orders ADD CONSTRAINT a6 FOREIGN KEY (customer_id) REFERENCES public.customers(id);
ALTER TABLE ONLY public.order_lines ADD CONSTRAINT a7 FOREIGN KEY (order_id) REFERENCES public.orders(id);
ALTER TABLE ONLY public.order_lines ADD CONSTRAINT a8 FOREIGN KEY (product_id) REFERENCES public.products(id);
ALTER TABLE ONLY public.payments ADD CONSTRAINT a9 FOREIGN KEY (order_id) REFERENCES public.orders(id);
ALTER TABLE ONLY public.reviews ADD CONSTRAINT b1 FOREIGN KEY (product_id) REFERENCES public.products(id);
ALTER TABLE ONLY public.reviews ADD CONSTRAINT b2 FOREIGN KEY (customer_id) REFERENCES public.customers(id);
ALTER TABLE ONLY public.wishes ADD CONSTRAINT b3 FOREIGN KEY (customer_id) REFERENCES public.customers(id);
ALTER TABLE ONLY public.wishes ADD CONSTRAINT b4 FOREIGN KEY (product_id) REFERENCES public.products(id);
CREATE INDEX orders_by_state ON public.orders USING btree (state, placed_at);
