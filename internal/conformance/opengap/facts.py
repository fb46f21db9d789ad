# Prints what Python says of each file on stdin, which is a line "LENGTH PATH" and the bytes. Nothing of a file runs.
import ast, collections, json, sys
from posixpath import dirname, join, normpath, relpath

for kind, limit in (("RLIMIT_AS", 1 << 30), ("RLIMIT_CPU", 20)):
    try:
        import resource
        resource.setrlimit(getattr(resource, kind), (limit, limit))
    except Exception:  # a system that cannot; the gate ends this process in any case
        pass

ROOT = "/\1" * 70 + "/agent"  # below directories enough for each .. of a path
PATHS = ("Path", "pathlib.Path", "pathlib.PurePath")
SAME = ("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath", "str")
IMPORTS, FUNCTIONS = (ast.Import, ast.ImportFrom), (ast.FunctionDef, ast.AsyncFunctionDef)

def targets(*nodes):  # the names among targets of an assignment
    for n in nodes:
        if isinstance(n, ast.Name):
            yield n.id
        yield from targets(*getattr(n, "elts", ()))
        if isinstance(n, ast.Starred):
            yield from targets(n.value)

def dotted(n):
    rest = ""
    while isinstance(n, ast.Attribute):
        rest, n = "." + n.attr + rest, n.value
    return n.id + rest if isinstance(n, ast.Name) else ""

def member(path, name):
    return (path[:-1] if path.endswith(".") else path) + "." + name if name else path

def bindings(n):  # each name that an import binds, and its path: "a.b" of from a import b, "a." of import a
    for a in n.names:
        if isinstance(n, ast.ImportFrom):
            yield a.asname or a.name, member("." * n.level + (n.module or ""), a.name)
        else:
            name = a.name.split(".")[0]
            yield a.asname or name, (a.name if a.asname else name) + "."

def text(n):
    return n.value if isinstance(n, ast.Constant) and isinstance(n.value, str) else None

def joined(n):
    if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add):
        both = joined(n.left), joined(n.right)
        return None if None in both else both[0] + both[1]
    return text(n)

def at(what, n):
    return {"text": what, "line": n.lineno, "column": n.col_offset + 1}

def argument(keyword, n):
    return {"keyword": keyword, "text": joined(n), "none": isinstance(n, ast.Constant) and n.value is None}

class Facts:
    def __init__(self, tree, path):
        self.file, self.imports, self.functions, self.required = ROOT + "/" + path, {}, [], []
        self.environ, self.outside, self.known, nodes = [], {}, {}, list(ast.walk(tree))
        self.module(tree.body, True)
        bound = [(t, n.value) for n in tree.body if isinstance(n, ast.Assign) for t in targets(*n.targets)]
        count = collections.Counter(t for t, _ in bound)
        self.once = {t: value for t, value in bound if count[t] == 1}
        imports = [n for n in nodes if isinstance(n, IMPORTS)]
        self.alias = {name: path.strip(".") for n in imports for name, path in bindings(n)}
        self.named = sorted({member("" if isinstance(n, ast.Import) else n.module or "", a.name).strip(".")
                             for n in imports for a in n.names})
        docs = {id(n.body[0].value) for n in nodes if type(getattr(n, "body", None)) is list and n.body
                and isinstance(n.body[0], ast.Expr)}
        self.texts = sorted({text(n) for n in nodes if text(n) and len(n.value) < 200 and id(n) not in docs})
        self.tests = [n.name for n in nodes if isinstance(n, FUNCTIONS) and n.name.startswith("test")
                      or isinstance(n, ast.ClassDef) and n.name.startswith("Test")]
        for n in nodes:
            for child in ast.iter_child_nodes(n):
                self.search(child, n)

    def forget(self, *bound):
        for name in bound:
            self.imports.pop(name, None)
            for f in self.functions:
                f["exported"] &= f["name"] != name

    def module(self, body, direct):  # what the names at module level are, in order; direct: at column 0
        for n in body:
            if isinstance(n, IMPORTS):
                for name, path in bindings(n):
                    if direct and name != "*":
                        self.forget(name)
                    self.imports.setdefault(name, []).append(path)
                if direct and not getattr(n, "level", 0):
                    self.required += [at((getattr(n, "module", 0) or a.name).split(".")[0], n) for a in n.names]
            elif isinstance(n, FUNCTIONS + (ast.ClassDef,)):
                by = [self.decorator(d) for d in n.decorator_list]
                self.forget(*[n.name] * direct)
                if direct and by and isinstance(n, FUNCTIONS):
                    self.functions.append({"name": n.name, "line": n.lineno, "doc": ast.get_docstring(n, False) or "",
                                           "decorators": by, "exported": True})
            elif hasattr(n, "body") or hasattr(n, "cases"):
                held = [i.optional_vars for i in getattr(n, "items", ())]
                self.forget(*targets(getattr(n, "target", None), *held) if direct else ())
                for part in ("body", "handlers", "orelse", "finalbody", "cases"):
                    for inner in getattr(n, part, ()):
                        self.module([inner] if isinstance(inner, ast.stmt) else inner.body, False)
            elif direct:
                kept = {w.id for w in ast.walk(n.value) if isinstance(w, ast.Name) and type(w.ctx) is ast.Load
                        } if getattr(n, "value", None) else ()
                assigned = [] if isinstance(n, ast.AnnAssign) and not n.value else [getattr(n, "target", None)]
                walrus = [w.target for w in ast.walk(n) if type(w).__name__ == "NamedExpr"]
                self.forget(*set(targets(*assigned, *walrus, *getattr(n, "targets", ()))).difference(kept))

    def decorator(self, d):
        call = isinstance(d, ast.Call)
        name = dotted(d.func if call else d)
        head, _, rest = name.partition(".")
        given = [("", a) for a in d.args] + [(k.arg or "**", k.value) for k in d.keywords] if call else []
        return {"name": name, "paths": [member(p, rest) for p in self.imports.get(head, [])][:16],
                "arguments": [argument(*g) for g in given]}

    def full(self, n):  # a name with what the imports call its head
        head, _, rest = dotted(n).partition(".")
        return (self.alias.get(head, head) + "." + rest).strip(".")

    def path(self, n, depth=0):  # the path that an expression is; None: it is computed
        if depth > 60:
            return None
        def of(combine, *nodes):
            parts = [self.path(m, depth + 1) for m in nodes]
            return None if None in parts or sum(map(len, parts)) > 4096 else combine(*parts)
        method = getattr(n, "attr", "")
        if isinstance(n, ast.Name) and n.id in self.once and n.id not in self.known:
            self.known[n.id] = None  # a name that leads to itself is computed
            self.known[n.id] = self.path(self.once[n.id], depth + 1)
        if isinstance(n, ast.Name):
            return self.file if n.id == "__file__" else self.known.get(n.id)
        if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Add, ast.Div)):
            return of(join if isinstance(n.op, ast.Div) else str.__add__, n.left, n.right)
        if method == "parent":
            return of(lambda p: dirname(p) or ".", n.value)
        if isinstance(n, ast.Subscript) and getattr(n.value, "attr", "") == "parents":
            i = getattr(getattr(n.slice, "value", n.slice), "value", getattr(n.slice, "value", None))
            return of(lambda p: join(p, *[".."] * (i + 1)), n.value.value) if type(i) is int and 0 <= i < 70 else None
        if isinstance(n, ast.Call) and not n.keywords:
            name, method = self.full(n.func), getattr(n.func, "attr", "")
            if name == "os.path.join" or name in PATHS:
                return of(join, ast.Constant("."), *n.args)
            if name == "os.path.dirname" or name in SAME:
                return of(dirname if name == "os.path.dirname" else str, *n.args[:1])
            if method in ("joinpath", "resolve", "absolute"):
                return of(join, n.func.value, *n.args) if method == "joinpath" else of(str, n.func.value)
        return text(n)

    def builds(self, n):  # whether an expression is a path that more of it may follow
        return (isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) or isinstance(n, ast.Attribute) and n.attr in (
            "parent", "parents", "joinpath", "resolve", "absolute") or isinstance(n, ast.Call) and (
            self.full(n.func) in PATHS or getattr(n.func, "attr", "") == "joinpath"))

    def search(self, n, parent):  # the variables and the paths outside that a node needs
        name, args, key = self.full(n.func if isinstance(n, ast.Call) else n), getattr(n, "args", []), []
        if isinstance(n, ast.Subscript) and self.full(n.value) == "os.environ":
            key = [n.slice.value if type(n.slice).__name__ == "Index" else n.slice]
        elif isinstance(n, ast.Call) and name in ("os.environ.get", "os.getenv"):
            key = args[:1] + [k.value for k in n.keywords if k.arg == "key"]
        self.environ += [at(joined(k), n) for k in key[:1]]
        used = []
        if isinstance(n, ast.Call) and name in ("open", "io.open"):
            used = args[:1] + [k.value for k in n.keywords if k.arg == "file"]
        elif isinstance(n, ast.Call) and name.startswith("sys.path."):
            used = [e for a in args for e in getattr(a, "elts", [a])]
        elif isinstance(n, (ast.Assign, ast.AugAssign)) and any(
                self.full(t).startswith("sys.path") or self.full(getattr(t, "value", None)) == "sys.path"
                for t in getattr(n, "targets", None) or [n.target]):
            used = getattr(n.value, "elts", [n.value])
        elif self.builds(n) and not self.builds(parent) and not isinstance(parent, ast.Assign):
            used = [n]
        elif isinstance(n, ast.Call) and name in PATHS:
            used = args
        for u in used:
            p = self.path(u)
            whole = normpath(join(ROOT, (p or "").replace("\\", "/")))
            if p and (whole + "/").find(ROOT + "/") or p and p[1:3] in (":/", ":\\"):
                shown = relpath(whole, ROOT) if whole.startswith("/\1") else p
                self.outside.setdefault(shown, at(shown, u))

def facts(data, path):
    try:
        tree = compile(data, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        compile(tree, path, "exec", dont_inherit=True)
        found = vars(Facts(tree, path))
        found["outside"] = list(found["outside"].values())
        return {k: found[k] for k in ("imports functions required named texts tests environ outside").split()}
    except (SyntaxError, ValueError) as e:
        return {"fault": "%s: %s" % (type(e).__name__, getattr(e, "msg", e)), "line": getattr(e, "lineno", 0) or 0}
    except (MemoryError, RecursionError) as e:
        return {"unread": type(e).__name__}

def say(what):
    print(json.dumps(what), flush=True)

say({"version": list(sys.version_info[:3]), "stdlib": sorted(getattr(sys, "stdlib_module_names", ()))})
for line in iter(sys.stdin.buffer.readline, b""):
    size, path = line.decode().rstrip("\n").split(" ", 1)
    say(facts(sys.stdin.buffer.read(int(size)), path))
