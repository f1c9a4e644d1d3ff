-- Pages with tags, as mysqldump --no-data writes them.
CREATE TABLE `authors` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `handle` varchar(64) NOT NULL,
  `bio` mediumtext,
  PRIMARY KEY (`id`),
  UNIQUE KEY `handle` (`handle`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE `sites` (`id` int NOT NULL, `host` varchar(255) NOT NULL, PRIMARY KEY (`id`), UNIQUE KEY `host` (`host`)) ENGINE=InnoDB;
CREATE TABLE `pages` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `site_id` int NOT NULL,
  `author_id` int unsigned NOT NULL,
  `slug` varchar(191) NOT NULL,
  `status` enum('draft','published','archived') NOT NULL DEFAULT 'draft',
  `published_at` datetime DEFAULT NULL,
  `body` longtext NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `site_slug` (`site_id`,`slug`),
  KEY `by_author` (`author_id`),
  CONSTRAINT `p1` FOREIGN KEY (`site_id`) REFERENCES `sites` (`id`),
  CONSTRAINT `p2` FOREIGN KEY (`author_id`) REFERENCES `authors` (`id`)
) ENGINE=InnoDB;
CREATE TABLE `revisions` (
  `page_id` bigint NOT NULL,
  `number` int NOT NULL,
  `body` longtext NOT NULL,
  PRIMARY KEY (`page_id`,`number`),
  CONSTRAINT `r1` FOREIGN KEY (`page_id`) REFERENCES `pages` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB;
CREATE TABLE `tags` (`id` int NOT NULL AUTO_INCREMENT, `name` varchar(64) NOT NULL, PRIMARY KEY (`id`), UNIQUE KEY `name` (`name`)) ENGINE=InnoDB;
CREATE TABLE `page_tags` (
  `page_id` bigint NOT NULL,
  `tag_id` int NOT NULL,
  PRIMARY KEY (`page_id`,`tag_id`),
  CONSTRAINT `t1` FOREIGN KEY (`page_id`) REFERENCES `pages` (`id`),
  CONSTRAINT `t2` FOREIGN KEY (`tag_id`) REFERENCES `tags` (`id`)
) ENGINE=InnoDB;
CREATE TABLE `comments` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `page_id` bigint NOT NULL,
  `posted_at` datetime NOT NULL,
  `approved` tinyint(1) NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  CONSTRAINT `c1` FOREIGN KEY (`page_id`) REFERENCES `pages` (`id`)
) ENGINE=InnoDB;
