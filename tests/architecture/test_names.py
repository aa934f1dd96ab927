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


def test_exceptions_end_in_error() -> None:
    bases = {"Exception", "BaseException", "ValueError", "OSError", "TypeError", "LookupError"}
    classes = [
        node
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    raised = [
        node.name
        for node in classes
        if any(ast.unparse(base) in bases or ast.unparse(base).endswith("Error") for base in node.bases)
    ]
    assert len(raised) > 10
    assert [name for name in raised if not name.endswith("Error")] == []
