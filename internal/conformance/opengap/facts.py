# Prints what Python says of each file on stdin, which is a line "LENGTH PATH" and the bytes. Nothing of a file runs.
import ast, json, operator, sys
from contextlib import suppress
from pathlib import PurePosixPath
from posixpath import dirname, join

for kind, limit in (("RLIMIT_AS", 1 << 30), ("RLIMIT_CPU", 20)):
    with suppress(Exception):  # a system that cannot; the gate ends this process in any case
        import resource
        resource.setrlimit(getattr(resource, kind), (limit, limit))

ROOT = "/\1" * 70 + "/agent"  # as in Go: below directories enough for each .. of a path
FUNCTIONS, STORED = (ast.FunctionDef, ast.AsyncFunctionDef), (ast.Store, ast.Del)
# What makes a path of others, or leaves it where it is.
PATHS = dict.fromkeys(("Path", "pathlib.Path", "pathlib.PurePath"), PurePosixPath)
CALLS = {**PATHS, "os.path.join": join, "os.path.dirname": dirname, **dict.fromkeys(
    ("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath", "str"), lambda path: path)}
METHODS = {"joinpath": PurePosixPath.joinpath, "resolve": PurePosixPath, "absolute": PurePosixPath}
OPERATORS = {ast.Add: operator.add, ast.Div: operator.truediv}

def names(kind, *nodes):  # the names among some nodes that are loaded, or stored
    return {w.id for n in nodes if n for w in ast.walk(n) if isinstance(w, ast.Name) and isinstance(w.ctx, kind)}

def dotted(n):
    rest = ""
    while isinstance(n, ast.Attribute):
        rest, n = "." + n.attr + rest, n.value
    return n.id + rest if isinstance(n, ast.Name) else ""

def bindings(n):  # the names that a statement imports, each with its path, and what is imported
    base = "." * n.level + (n.module + "." if n.module else "") if isinstance(n, ast.ImportFrom) else ""
    for a in n.names if isinstance(n, (ast.Import, ast.ImportFrom)) else ():
        head = a.name.split(".")[0]
        yield a.asname or head, base + a.name if base else (a.name if a.asname else head) + ".", base + a.name

def at(what, n):
    return {"text": what if isinstance(what, str) else None, "line": n.lineno, "column": n.col_offset + 1}

def facts(tree, file):
    nodes = list(ast.walk(tree))
    every = [b for n in nodes for b in bindings(n)]
    alias, once, values = {name: path.strip(".") for name, path, _ in every}, {}, {}
    imports, functions, required, texts, tests, environ, paths = {}, [], [], [], [], [], []
    for n in tree.body:
        for name in names(STORED, *n.targets) if isinstance(n, ast.Assign) else ():
            once[name] = None if name in once else n.value

    def full(n):  # a name with what the imports call its head
        head, _, rest = dotted(n).partition(".")
        return (alias.get(head, head) + "." + rest).strip(".")

    def value(n):  # the text, number or path that an expression is; None: it is computed
        if id(n) not in values:
            values[id(n)] = None  # a name that leads to itself is computed
            with suppress(Exception):  # Python would fail, too
                found = evaluate(n)
                values[id(n)] = found if len(str(found)) < 1 << 16 else None
        return values[id(n)]

    def evaluate(n):
        if isinstance(n, ast.Name):
            return file if n.id == "__file__" else value(once[n.id])
        if isinstance(n, ast.BinOp):
            return OPERATORS[type(n.op)](value(n.left), value(n.right))
        if isinstance(n, ast.Attribute) and n.attr in ("parent", "parents"):
            return getattr(value(n.value), n.attr)
        if isinstance(n, ast.Subscript):
            return value(n.value)[value(n.slice)]
        if isinstance(n, ast.Call) and not n.keywords:
            call, args = CALLS.get(full(n.func)), n.args
            if not call:
                call, args = METHODS[n.func.attr], [n.func.value, *args]
            return call(*map(value, args))
        return n.value if isinstance(n, ast.Constant) else value(n.value) if type(n).__name__ == "Index" else None

    def decorator(d):
        name = dotted(getattr(d, "func", d))
        head, _, rest = name.partition(".")
        said = [at(value(k.value), d) for k in getattr(d, "keywords", ()) if k.arg in (None, "description")
                and getattr(k.value, "value", d) is not None]
        paths = [p + "." * (rest != "" and not p.endswith(".")) + rest for p in imports.get(head, [])]
        return {"name": name, "paths": paths[:16], "said": said[:1]}

    def module(body, direct):  # what the names at module level are, in order; direct: at column 0
        for n in body:
            imported, within = list(bindings(n)), list(ast.iter_child_nodes(n))
            by = [decorator(d) for d in getattr(n, "decorator_list", ())]
            if hasattr(n, "name"):
                bound, within = {n.name}, ()
            elif imported or isinstance(n, ast.AnnAssign) and not n.value:  # a: int binds nothing
                bound = {name for name, _, _ in imported if name != "*"}
            else:
                own = [getattr(c, "optional_vars", c) for c in within if isinstance(c, (ast.expr, ast.withitem))]
                bound = names(STORED, *own) - names(ast.Load, getattr(n, "value", getattr(n, "test", None)))
            for name in bound if direct else ():
                imports.pop(name, None)
                for f in functions:
                    f["exported"] &= f["name"] != name
            for name, path, whole in imported:
                imports.setdefault(name, []).append(path)
                required.extend([at(whole.split(".")[0], n)] * direct)
            if direct and by and isinstance(n, FUNCTIONS):
                functions.append({"name": n.name, "line": n.lineno, "doc": ast.get_docstring(n, False) or "",
                                  "decorators": by, "exported": True})
            for c in within:
                if not isinstance(c, ast.expr):
                    module([c] if isinstance(c, ast.stmt) else getattr(c, "body", ()), False)

    def search(n, parent):  # the tests, texts, variables and paths that a node has
        name, given, used = "", [], []
        if isinstance(n, ast.Call):
            name, given = full(n.func), n.args + [k.value for k in n.keywords if k.arg in ("file", "key")]
        elif isinstance(n, (ast.Assign, ast.AugAssign)):
            target = getattr(n, "target", None) or n.targets[0]
            name, given = full(target.value if isinstance(target, ast.Subscript) else target), [n.value]
        if isinstance(n, (ast.ClassDef, *FUNCTIONS)):
            tests.extend([n.name] * n.name.startswith("Test" if isinstance(n, ast.ClassDef) else "test"))
        elif isinstance(n, ast.Constant) and isinstance(n.value, str) and not isinstance(parent, ast.Expr):
            texts.extend([n.value] * (len(n.value) < 200))
        elif isinstance(n, ast.Subscript) and full(n.value) == "os.environ":
            environ.append(at(None if names(ast.Load, n.slice) else value(n.slice), n))
        elif name in ("os.environ.get", "os.getenv"):
            environ.extend(at(None if names(ast.Load, k) else value(k), n) for k in given[:1])
        elif name in ("open", "io.open", *PATHS) or (name + ".").startswith("sys.path."):
            used = [e for g in given for e in getattr(g, "elts", [g])]
        if isinstance(value(n), PurePosixPath) and not isinstance(n, ast.Name) and not isinstance(
                parent, ast.Assign) and not isinstance(value(parent), PurePosixPath):
            used = [n]
        paths.extend(at(str(value(u)), u) for u in used if value(u))

    module(tree.body, True)
    for n in nodes:
        for child in ast.iter_child_nodes(n):
            search(child, n)
    return {"imports": imports, "functions": functions, "required": required, "texts": texts, "tests": tests,
            "named": [whole.strip(".") for _, _, whole in every], "environ": environ, "paths": paths}

def read(data, path):
    try:
        tree = compile(data, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        compile(tree, path, "exec", dont_inherit=True)
        return facts(tree, ROOT + "/" + path)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as e:
        return {"fault": "%s: %s" % (type(e).__name__, getattr(e, "msg", e)), "line": getattr(e, "lineno", 0) or 0}

hello = {"version": sys.version_info[:3], "stdlib": sorted(getattr(sys, "stdlib_module_names", ()))}
print(json.dumps(hello), flush=True)
for line in iter(sys.stdin.buffer.readline, b""):
    size, path = line.decode().rstrip("\n").split(" ", 1)
    print(json.dumps(read(sys.stdin.buffer.read(int(size)), path)), flush=True)
