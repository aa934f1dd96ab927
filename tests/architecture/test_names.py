"""Names that a reader can rely on: one meaning for each public class name, few modules in each folder."""

import ast
from collections import defaultdict
from pathlib import Path

import honeyguide

SOURCE = Path(honeyguide.__file__).parent


def test_a_public_class_name_has_one_meaning() -> None:
    owners = defaultdict(list)
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                owners[node.name].append(str(file.relative_to(SOURCE)))
    assert len(owners) > 100
    assert {name: files for name, files in owners.items() if len(files) > 1} == {}


def test_no_folder_has_more_than_ten_modules() -> None:
    folders = {file.parent for file in SOURCE.rglob("*.py")}
    sizes = {
        str(folder.relative_to(SOURCE)): len(list(folder.glob("*.py"))) - (folder / "__init__.py").exists()
        for folder in folders
    }
    assert {folder: size for folder, size in sizes.items() if size > 10} == {}
