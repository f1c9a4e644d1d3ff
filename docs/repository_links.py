"""A preprocessor of mdBook for links that leave docs/, such as ../models: on GitHub they work as they are, in the book
they lead to the repository (`git-repository-url` in book.toml), or become plain text while no address is set."""

import json
import posixpath
import re
import sys

# Code stays as it is; a link's text may contain code.
LINK = re.compile(r"```.*?```|(?<!!)\[((?:`[^`]*`|[^\]`])*)\]\(((?:\.\./)+[^)]*)\)|`[^`\n]*`", re.DOTALL)


def rewritten(text, page, repository):
    def replace(match):
        label, link = match.groups()
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link)) if link else ""
        if not target or target.startswith("docs/"):
            return match.group()
        return f"[{label}]({repository}/blob/main/{target})" if repository else label

    return LINK.sub(replace, text)


def visit(items, repository):
    for chapter in (item["Chapter"] for item in items if isinstance(item, dict) and "Chapter" in item):
        if chapter.get("path"):
            chapter["content"] = rewritten(chapter["content"], chapter["path"], repository)
        visit(chapter["sub_items"], repository)


if __name__ == "__main__":
    if sys.argv[1:2] == ["supports"]:
        sys.exit(0 if sys.argv[2] == "html" else 1)
    context, book = json.load(sys.stdin)
    html = context["config"].get("output", {}).get("html", {})
    visit(book.get("items", book.get("sections", [])), html.get("git-repository-url", "").rstrip("/"))
    json.dump(book, sys.stdout)
