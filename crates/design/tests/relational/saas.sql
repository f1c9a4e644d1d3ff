-- Tenants with composite keys, as sqlite3 prints with .schema.
CREATE TABLE tenants (id TEXT PRIMARY KEY, name TEXT NOT NULL, plan TEXT NOT NULL CHECK (plan IN ('free', 'team', 'enterprise')));
CREATE TABLE users (
  tenant_id TEXT NOT NULL REFERENCES tenants(id),
  user_id TEXT NOT NULL,
  email TEXT NOT NULL,
  last_seen DATETIME,
  PRIMARY KEY (tenant_id, user_id),
  UNIQUE (tenant_id, email)
);
CREATE TABLE projects (
  tenant_id TEXT NOT NULL REFERENCES tenants(id),
  project_id TEXT NOT NULL,
  name TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  PRIMARY KEY (tenant_id, project_id),
  UNIQUE (tenant_id, name),
  FOREIGN KEY (tenant_id, owner_id) REFERENCES users(tenant_id, user_id)
);
CREATE TABLE tasks (
  tenant_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  task_id INTEGER NOT NULL,
  assignee_id TEXT,
  status TEXT NOT NULL,
  due DATE,
  PRIMARY KEY (tenant_id, project_id, task_id),
  FOREIGN KEY (tenant_id, project_id) REFERENCES projects(tenant_id, project_id)
) WITHOUT ROWID;
CREATE TABLE memberships (
  tenant_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  role TEXT NOT NULL,
  PRIMARY KEY (tenant_id, project_id, user_id)
);
CREATE TABLE audit_log (tenant_id TEXT NOT NULL REFERENCES tenants(id), at DATETIME NOT NULL, actor TEXT NOT NULL, what TEXT NOT NULL);
CREATE INDEX tasks_by_assignee ON tasks (tenant_id, assignee_id, due);
