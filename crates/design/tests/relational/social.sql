-- A social network in MySQL.
CREATE TABLE `users` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `handle` varchar(30) NOT NULL,
  `joined` datetime NOT NULL,
  `verified` tinyint(1) NOT NULL DEFAULT '0',
  PRIMARY KEY (`id`),
  UNIQUE KEY `by_handle` (`handle`)
) ENGINE=InnoDB;
CREATE TABLE `posts` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `author_id` int unsigned NOT NULL,
  `body` text NOT NULL,
  `visibility` enum('public','friends') NOT NULL,
  `posted` datetime NOT NULL,
  PRIMARY KEY (`id`),
  KEY `by_author` (`author_id`,`posted`),
  CONSTRAINT `a` FOREIGN KEY (`author_id`) REFERENCES `users` (`id`)
) ENGINE=InnoDB;
CREATE TABLE `follows` (
  `follower_id` int unsigned NOT NULL,
  `followed_id` int unsigned NOT NULL,
  `since` datetime NOT NULL,
  PRIMARY KEY (`follower_id`,`followed_id`),
  FOREIGN KEY (`follower_id`) REFERENCES `users` (`id`),
  FOREIGN KEY (`followed_id`) REFERENCES `users` (`id`)
) ENGINE=InnoDB;
CREATE TABLE `likes` (
  `user_id` int unsigned NOT NULL,
  `post_id` bigint NOT NULL,
  `at` datetime NOT NULL,
  PRIMARY KEY (`user_id`,`post_id`),
  FOREIGN KEY (`user_id`) REFERENCES `users` (`id`),
  FOREIGN KEY (`post_id`) REFERENCES `posts` (`id`)
) ENGINE=InnoDB;
