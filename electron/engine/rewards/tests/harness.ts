/**
 * The program that runs a row's tests against an answer's code, in the sandbox's own Python. It is started in a folder with `task.json`
 * ({ nonce, prompt, code, tests, entryPoint, each, inWorkspace }) and removes both before any code of the model runs. Only after the tests it prints
 * `@@tests <sha256 of nonce:passed:total> <passed> <total>`, so that code which exits early, or prints what it likes, has not passed.
 *
 * The tests see Python's own builtins whatever the code did to them, and names of the code only where they hide no builtin.
 */
export const HARNESS = String.raw`
import ast, builtins, hashlib, json, os, sys, threading, traceback, types
try:
    import resource
except ImportError:
    resource = None

def main():
    here = os.getcwd()
    with open('task.json', encoding='utf-8') as file:
        task = json.load(file)
    for name in ('task.json', 'harness.py'):
        os.unlink(name)
    limit()
    nonce = task.pop('nonce')
    write, leave, sha256, flush = os.write, os._exit, hashlib.sha256, sys.stdout.flush
    compile_, exec_, plain, pristine = compile, exec, vars(builtins), dict(vars(builtins))
    print_exception, info, stderr = traceback.print_exception, sys.exc_info, sys.stderr
    stops = (sys.settrace, sys.setprofile, threading.settrace, threading.setprofile)

    def show():
        kind, error, place = info()
        # from the first line that is not this program's
        while place is not None and place.tb_frame.f_code.co_filename.endswith('harness.py'):
            place = place.tb_next
        print_exception(kind, error, place, limit=-6, file=stderr)

    def report(passed, total):
        digest = sha256(('%s:%d:%d' % (nonce, passed, total)).encode()).hexdigest()
        flush()
        write(1, ('\n@@tests %s %d %d\n' % (digest, passed, total)).encode())

    sys.path.append(os.path.dirname(here))
    if task['inWorkspace']:
        os.chdir('..')
    tests, each, entry = task['tests'], task['each'], task['entryPoint']
    if isinstance(tests, str) and each:
        tests = asserts_of(tests) or tests
    total = len(tests) if isinstance(tests, list) else 1
    call_them = None if isinstance(tests, list) else calls_of(tests, entry)
    module = types.ModuleType('solution')
    sys.modules['solution'] = module
    # what the code would find there is this program
    sys.modules['__main__'] = types.ModuleType('__main__')
    try:
        for source in sources_of(task['prompt'], task['code'], entry):
            exec_(compile_(source, 'solution.py', 'exec'), module.__dict__)
    except BaseException:
        show()
        report(0, total)
        leave(0)
    plain.update(pristine)
    for name in set(plain) - set(pristine):
        del plain[name]
    for stop in stops:
        stop(None)
    space = {k: v for k, v in module.__dict__.items() if k not in pristine or k == entry}
    space.update(__name__='tests', __builtins__=builtins)
    if entry and entry not in space:
        print('The code does not define %s.' % entry, file=sys.stderr)
        report(0, total)
        leave(0)
    passed = 0
    if isinstance(tests, list):
        for number, test in enumerate(tests):
            try:
                exec_(compile_(test, 'test %d' % (number + 1), 'exec', optimize=0), space)
                passed += 1
                if each:
                    report(passed, total)
            except BaseException:
                show()
    else:
        try:
            exec_(compile_(tests, 'tests.py', 'exec', optimize=0), space)
            call_them(space)
            passed = 1
        except BaseException:
            show()
    report(passed, total)
    leave(0)

def sources_of(prompt, code, entry):
    """The prompt's own code brings the imports and helpers that an answer need not repeat; an answer may also go on where it stops."""
    if not entry or not prompt or not defines(prompt, entry):
        return [code]
    return [prompt, code] if defines(code, entry) else [prompt + code if prompt.endswith('\n') else prompt + '\n' + code]

def defines(source, name):
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    for node in tree.body:
        if getattr(node, 'name', None) == name:
            return True
        if isinstance(node, ast.Assign) and any(getattr(t, 'id', None) == name for t in node.targets):
            return True
    return False

def asserts_of(source):
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    if not tree.body or not all(isinstance(node, ast.Assert) for node in tree.body):
        return None
    return [ast.get_source_segment(source, node) for node in tree.body]

def calls_of(source, entry):
    """Calls what the program defines and does not call itself: check(candidate), test functions, unittest's cases."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return lambda space: None
    names = sorted(node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    expressions = [node for node in body if isinstance(node, ast.Expr)]
    called = {node.func.id for one in expressions for node in ast.walk(one) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    import unittest
    case, suite_of, load, runner, function = unittest.TestCase, unittest.TestSuite, unittest.defaultTestLoader.loadTestsFromTestCase, unittest.TextTestRunner, types.FunctionType

    def call(space):
        if 'check' in names and 'check' not in called and entry:
            space['check'](space[entry])
        for name in names:
            if name.startswith('test') and name not in called and isinstance(space.get(name), function):
                space[name]()
        cases = [space[name] for name in names if isinstance(space.get(name), type) and issubclass(space[name], case)]
        if cases:
            result = runner(stream=sys.stderr).run(suite_of(load(one) for one in cases))
            assert result.wasSuccessful() and result.testsRun > 0, 'tests failed'
    return call

def limit():
    """What a machine with other work survives."""
    if resource is None:
        return
    def at_most(what, value):
        try:
            hard = resource.getrlimit(what)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(what, (value, value))
        except (ValueError, OSError):
            pass
    at_most(resource.RLIMIT_CORE, 0)
    at_most(resource.RLIMIT_FSIZE, 1 << 28)
    if sys.platform == 'linux':
        at_most(resource.RLIMIT_AS, 8 << 30)
        at_most(resource.RLIMIT_NPROC, tasks_of_user() + 512)

def tasks_of_user():
    uid, count = os.getuid(), 0
    for pid in os.listdir('/proc'):
        if pid.isdigit():
            try:
                if os.stat('/proc/' + pid).st_uid == uid:
                    count += len(os.listdir('/proc/%s/task' % pid))
            except OSError:
                pass
    return count

main()
`;
