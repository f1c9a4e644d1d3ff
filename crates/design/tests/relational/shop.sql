-- A shop in PostgreSQL, as pg_dump writes it.
SET statement_timeout = 0;
CREATE TYPE public.order_state AS ENUM ('pending', 'paid', 'shipped', 'delivered');

CREATE TABLE public.users (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    email character varying(200) NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);
COMMENT ON TABLE public.users IS 'people; who buy';

CREATE TABLE public.orders (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    state public.order_state DEFAULT 'pending'::public.order_state NOT NULL,
    total numeric(10,2) NOT NULL,
    note text
);

CREATE TABLE public.order_items (
    order_id uuid NOT NULL,
    line integer NOT NULL,
    product_id uuid NOT NULL,
    quantity integer NOT NULL,
    price numeric(10,2) NOT NULL
);

CREATE TABLE public.products (
    id uuid NOT NULL,
    sku text NOT NULL,
    title text NOT NULL,
    category_id uuid,
    price numeric(10,2) NOT NULL,
    attributes jsonb,
    CONSTRAINT fine CHECK ((price > (0)::numeric))
);

CREATE TABLE public.categories (
    id uuid NOT NULL,
    parent_id uuid,
    name text NOT NULL
);

COPY public.categories (id, parent_id, name) FROM stdin;
c1	\N	it's; here
\.

ALTER TABLE ONLY public.users ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.users ADD CONSTRAINT users_email_key UNIQUE (email);
ALTER TABLE ONLY public.orders ADD CONSTRAINT orders_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.order_items ADD CONSTRAINT order_items_pkey PRIMARY KEY (order_id, line);
ALTER TABLE ONLY public.products ADD CONSTRAINT products_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.products ADD CONSTRAINT products_sku_key UNIQUE (sku);
ALTER TABLE ONLY public.categories ADD CONSTRAINT categories_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders ADD CONSTRAINT orders_user FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.order_items ADD CONSTRAINT items_order FOREIGN KEY (order_id) REFERENCES public.orders(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.order_items ADD CONSTRAINT items_product FOREIGN KEY (product_id) REFERENCES public.products(id);
ALTER TABLE ONLY public.products ADD CONSTRAINT products_category FOREIGN KEY (category_id) REFERENCES public.categories(id);
ALTER TABLE ONLY public.categories ADD CONSTRAINT categories_parent FOREIGN KEY (parent_id) REFERENCES public.categories(id);
