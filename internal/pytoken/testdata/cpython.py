"""Says of each of the JSON texts on stdin what CPython sees in it, one line each: null where it is no Python."""
import ast
import json
import sys
import warnings

warnings.simplefilter("ignore")
USES = {"os.environ", "os.environ.get", "os.getenv", "open", "pathlib.Path"}


def dotted(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id] + parts[::-1]) if isinstance(node, ast.Name) else None


def value(keyword, node):
    text = None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr) and all(isinstance(v, ast.Constant) for v in node.values):
        text = "".join(v.value for v in node.values)
    none = isinstance(node, ast.Constant) and node.value is None
    return [keyword, text, none]


def arguments(call):
    all_ = [(a, value("", a)) for a in call.args]
    all_ += [(k.value, value(k.arg or "**", k.value)) for k in call.keywords]
    for k in call.keywords:
        if k.arg is None:
            [v for n, v in all_ if n is k.value][0][1:] = [None, False]
    return [v for n, v in sorted(all_, key=lambda v: (v[0].lineno, v[0].col_offset))]


def full(names, name):
    first, _, rest = name.partition(".")
    return names[first] + ("." + rest if rest else "") if first in names else name


def look(text):
    tree = ast.parse(text)
    names, bound, functions, uses = {}, {}, [], []
    aliases = [n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
    for n in sorted(aliases, key=lambda n: (n.lineno, n.col_offset)):
        for a in n.names:
            if isinstance(n, ast.Import):
                names[a.asname or a.name.split(".")[0]] = a.name if a.asname else a.name.split(".")[0]
            elif a.name != "*":
                names[a.asname or a.name] = "." * n.level + (n.module or "") + "." + a.name

    def imported(n, direct):
        for a in n.names:
            if isinstance(n, ast.Import):
                whole = a.name if a.asname else a.name.split(".")[0]
                name, to = a.asname or whole, {"module"} if whole == "gitagent" else set()
            elif a.name == "*":
                continue
            else:
                name = a.asname or a.name
                to = {"member"} if n.level == 0 and n.module == "gitagent" and a.name == "skill" else set()
            bound[name] = to if direct else bound.get(name, set()) | to

    def below(n):
        for child in ast.iter_child_nodes(n):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                imported(child, False)
            elif not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
                below(child)

    for n in tree.body:
        if isinstance(n, (ast.Import, ast.ImportFrom)):
            imported(n, True)
        elif isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for d in n.decorator_list:
                name = dotted(d.func if isinstance(d, ast.Call) else d)
                first, _, rest = (name or "").partition(".")
                to = bound.get(first, set())
                if "member" in to and not rest or "module" in to and rest == "skill":
                    body = n.body[0]
                    doc = None
                    if isinstance(body, ast.Expr) and isinstance(body.value, ast.Constant) and isinstance(body.value.value, str):
                        doc = body.value.value
                    functions.append([n.name, doc, arguments(d) if isinstance(d, ast.Call) else []])
                    break
            bound.pop(n.name, None)
        elif isinstance(n, ast.ClassDef):
            bound.pop(n.name, None)
        elif isinstance(n, ast.TypeAlias):
            bound.pop(n.name.id, None)
        elif isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)):
            if isinstance(n, ast.AnnAssign) and n.value is None:
                continue
            for t in n.targets if isinstance(n, (ast.Assign, ast.Delete)) else [n.target]:
                for name in ast.walk(t):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, (ast.Store, ast.Del)):
                        bound.pop(name.id, None)
        else:
            below(n)
    for n in ast.walk(tree):
        if isinstance(n, (ast.Call, ast.Subscript)):
            name = dotted(n.func if isinstance(n, ast.Call) else n.value)
            if name and full(names, name) in USES:
                if isinstance(n, ast.Call):
                    given = arguments(n)
                else:
                    given = [value("", n.slice)]
                uses.append([full(names, name), isinstance(n, ast.Subscript), n.lineno, n.col_offset + 1, given])
    return {"functions": functions, "uses": sorted(uses, key=lambda u: (u[2], u[3], u[0]))}


for line in sys.stdin:
    try:
        seen = look(json.loads(line))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        seen = None
    print(json.dumps(seen))
