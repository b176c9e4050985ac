"""The page of `grapevine report` and of --dashboard, as Chromium shows it."""

import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

import browser

PROGRAM = os.path.join(os.environ.get("TEST_SRCDIR", "."), os.environ.get("TEST_WORKSPACE", "."),
                       "grapevine")
SHORT = ["--model=softmax", "--data=synthetic:train=512:test=200", "--rounds=12", "--log-every=2"]
PHONE, DESKTOP = (320, 640), (1280, 900)
LUMINANCE = """((element) => {
  const [r, g, b] = getComputedStyle(element).backgroundColor.match(/\\d+/g).map(Number);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
})(document.body)"""
TAB, LEFT, RIGHT = ("Tab", 9), ("ArrowLeft", 37), ("ArrowRight", 39)


def grapevine(*arguments):
    ended = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                           timeout=browser.PATIENCE)
    if ended.returncode != 0:
        raise AssertionError(ended.stderr + ended.stdout)
    return ended.stdout


class ReportTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if browser.CHROMIUM is None:
            raise AssertionError("chromium is not installed (Debian's chromium)")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        real, simulated, late = (str(cls.folder / name) for name in ("real", "sim", "late"))
        grapevine("train", "-n", "4", f"--out={real}", f"--trace={real}/trace.json", *SHORT)
        grapevine("sim", "-n", "4", f"--out={simulated}", "--slow=2:4", *SHORT)
        grapevine("sim", "-n", "4", f"--out={simulated}-alike", *SHORT)
        grapevine("train", "-n", "4", "--algorithm=adpsgd", f"--out={late}", *SHORT)
        cls.page = cls.folder / "report.html"
        said = grapevine("report", real, simulated, f"{simulated}-alike", late, "-o",
                         str(cls.page))
        if said != f"wrote {cls.page}\n":
            raise AssertionError(said)
        cls.browser = browser.Browser(folder.name)
        cls.addClassCleanup(cls.browser.close)

    def open(self, size=DESKTOP, dark=False, page=None):
        self.browser.complaints.clear()
        self.browser.requests.clear()
        self.browser.resize(*size, dark)
        self.browser.open((page or self.page).as_uri())

    def value(self, expression):
        return self.browser.value(expression)

    def count(self, selector):
        return self.value(f"document.querySelectorAll({selector!r}).length")

    def press(self, key):
        self.browser.press(*key)

    def test_every_section_is_drawn_without_an_error_and_without_a_network(self):
        self.open()
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.browser.requests, [self.page.as_uri()])
        titles = self.value("[...document.querySelectorAll('h2, h3')].map((h) => h.textContent)")
        self.assertEqual(titles, ["Outcome", "Learning", "Simulated beside measured", "Staleness",
                                  "Run by run", "Graph", "Who waited for whom", "Utilization",
                                  "Configuration"])
        self.assertEqual(self.value("document.querySelectorAll('.missing').length"), 0)
        self.assertEqual(self.count("#learning figure svg[role=img]"), 4)
        # Four runs, each with a training loss, in the colours of the legend.
        self.assertEqual(self.count("#learning figure:first-of-type .curve"), 4)
        self.assertEqual(self.count("#graph circle.ground"), 4)
        self.assertEqual(self.count("#graph .edge"), 4)
        self.assertGreater(self.count("#graph .edge.slow"), 0)
        self.assertGreater(self.count("#staleness rect"), 0)
        self.assertIn("grapevine train", self.value("document.querySelector('pre').textContent"))

    def test_no_drawing_leaves_its_frame(self):
        for size in (PHONE, DESKTOP):
            self.open(size)
            outside = self.value("""[...document.querySelectorAll('svg[role=img]')].flatMap((svg) => {
              const frame = svg.getBoundingClientRect();
              return [...svg.querySelectorAll('text, circle, rect, polyline')].filter((part) => {
                const box = part.getBoundingClientRect();
                return box.left < frame.left - 1 || box.right > frame.right + 1 ||
                       box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
              }).map((part) => part.outerHTML);
            })""")
            self.assertEqual(outside, [], size)

    def test_a_phone_does_not_scroll_sideways(self):
        self.open(PHONE)
        for run in range(self.count("#run option")):
            self.choose_run(run)
            self.assertLessEqual(self.value("document.documentElement.scrollWidth"), PHONE[0])
        self.assertEqual(self.browser.complaints, [])
        # What is wider scrolls in its own frame, which keys can reach.
        wide = self.value("[...document.querySelectorAll('.scroll')]"
                          ".filter((box) => box.scrollWidth > box.clientWidth)"
                          ".map((box) => box.tabIndex)")
        self.assertTrue(wide)
        self.assertEqual(set(wide), {0})

    def choose_run(self, index):
        self.value(f"""(() => {{
          const choose = document.getElementById('run');
          choose.value = {index};
          choose.dispatchEvent(new Event('change'));
        }})()""")

    def test_dark_mode_is_dark(self):
        self.open(dark=False)
        self.assertGreater(self.value(LUMINANCE), 200)
        self.open(dark=True)
        self.assertLess(self.value(LUMINANCE), 50)

    def test_each_run_can_be_chosen(self):
        self.open()
        command = "document.querySelector('pre').textContent"
        commands = []
        for run in range(self.count("#run option")):
            self.choose_run(run)
            commands.append(self.value(command))
        self.assertEqual(len(set(commands)), 4, commands)
        self.assertEqual([text.split()[1] for text in commands], ["train", "sim", "sim", "train"])
        self.assertEqual(self.browser.complaints, [])

    def test_keys_reach_everything_and_can_be_seen(self):
        self.open()
        seen = []
        for _ in range(60):
            self.press(TAB)
            seen.append(self.value("""(() => {
              const { activeElement: at } = document;
              return [at.className || at.id || at.tagName, getComputedStyle(at).outlineStyle];
            })()"""))
            if seen[-1][0] == "BODY":
                break
        names = [name for name, _ in seen]
        for name in ("skip", "A", "INPUT", "plot", "SUMMARY", "scroll", "run", "plot graph", "BUTTON"):
            self.assertIn(name, names)
        self.assertEqual([name for name, outline in seen if outline == "none" and name != "BODY"], [])

    def test_arrow_keys_read_the_points_of_a_chart(self):
        self.open()
        said = "document.querySelector('#learning .said').textContent"
        self.value("document.querySelector('#learning .plot').focus()")
        self.press(RIGHT)
        first = self.value(said)
        self.assertRegex(first, r"^epoch [\d.]+ – .*: \d")
        self.press(RIGHT)
        self.assertNotEqual(self.value(said), first)
        self.press(LEFT)
        self.assertEqual(self.value(said), first)
        self.value("document.querySelector('#graph .plot').focus()")
        self.press(RIGHT)
        self.assertRegex(self.value("document.querySelector('#graph .said').textContent"),
                         r"^rank 0, [\de.-]+ from the mean; edges: 0 – 1 waited .* s")

    def test_charts_are_drawn_against_bytes_and_time_too(self):
        self.open()
        labels = []
        for choice in range(3):
            self.value(f"document.querySelectorAll('#learning input[type=radio]')[{choice}].click()")
            labels.append(self.value("document.querySelector('#learning .across').textContent"))
        self.assertEqual([label.split()[0] for label in labels], ["epoch", "bytes", "real"])

    def test_a_curve_can_be_hidden(self):
        self.open()
        self.value("document.querySelector('#learning input[type=checkbox]').click()")
        self.assertEqual(self.count("#learning figure:first-of-type .curve"), 3)

    def test_each_chart_has_a_name_and_a_table(self):
        self.open()
        self.assertEqual(self.value("[...document.querySelectorAll('svg[role=img]')]"
                                    ".filter((svg) => !svg.getAttribute('aria-label')).length"), 0)
        figures = self.value("""(async () => {
          const open = [...document.querySelectorAll('.instead')];
          for (const details of open) details.open = true;
          await new Promise((done) => setTimeout(done));
          return open.map((details) => details.querySelectorAll('tbody tr').length);
        })()""")
        self.assertEqual(len(figures), self.count(".plot") + self.count("figure:has(.bar)"))
        self.assertNotIn(0, figures)

    def test_texts_of_a_run_are_no_elements(self):
        hostile = self.folder / "<img src=x onerror=document.title='hostile'>"
        hostile.mkdir()
        (hostile / "config.textproto").write_text(
            'topology: "</script><script>document.title=1</script>"', encoding="utf-8")
        (hostile / "metrics.jsonl").write_text('{"round":1,"epoch":1,"time_s":1,"train_loss":1}\n',
                                               encoding="utf-8")
        page = self.folder / "hostile.html"
        grapevine("report", str(hostile), "-o", str(page))
        self.open(page=page)
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.count("img"), 0)
        self.assertIn("Grapevine", self.value("document.title"))
        self.assertIn("onerror", self.value("document.querySelector('#one-run code').textContent"))


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class DashboardTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.browser = browser.Browser(folder.name)
        self.addCleanup(self.browser.close)
        self.browser.resize(*DESKTOP)

    def train(self, port):
        """A run that has measured something, and goes on."""
        train = subprocess.Popen(
            [PROGRAM, "train", "-n", "2", "--model=softmax", "--data=synthetic:train=512:test=200",
             "--rounds=10000000", "--log-every=50", "--eval-every=20",
             f"--out={self.folder}/run", f"--dashboard={port}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(train.stdout.close)
        self.addCleanup(train.wait)
        self.addCleanup(train.kill)
        lines = []
        for line in train.stdout:
            lines.append(line)
            if line.startswith("round "):
                self.assertIn(f"dashboard: http://127.0.0.1:{port}/\n", lines)
                return train
        raise AssertionError("".join(lines))

    def await_page(self, condition):
        self.assertTrue(self.browser.becomes(condition), condition)

    def test_the_page_follows_the_run_and_says_when_it_ends(self):
        port = free_port()
        train = self.train(port)
        address = f"http://127.0.0.1:{port}/"
        self.browser.open(address)
        self.await_page("document.querySelectorAll('#learning .curve').length >= 2")
        self.browser.value("document.querySelectorAll('#learning input[type=radio]')[1].click()")
        self.browser.value("document.querySelectorAll('#learning input[type=radio]')[1].focus()")
        self.browser.value("window.before = document.querySelector('#outcome tbody').textContent")
        self.await_page("document.querySelector('#outcome tbody').textContent !== window.before")
        # The reader's choice and place outlast what was drawn anew.
        self.assertTrue(self.browser.value(
            "document.querySelectorAll('#learning input[type=radio]')[1].checked"))
        self.assertEqual(self.browser.value("document.activeElement.value"), "1")
        self.assertIn("bytes", self.browser.value(
            "document.querySelector('#learning .across').textContent"))
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(set(self.browser.requests) - {address + "favicon.ico"},
                         {address, address + "data.json"})
        train.terminate()
        self.await_page("document.getElementById('live').textContent.startsWith('The run has ended')")
        self.assertGreaterEqual(self.browser.value(
            "document.querySelectorAll('#learning .curve').length"), 2)

    def test_an_address_that_cannot_be_had_is_refused_before_the_run(self):
        def refused(where):
            return subprocess.run(
                [PROGRAM, "train", "-n", "2", f"--out={self.folder}/run", f"--dashboard={where}",
                 *SHORT], capture_output=True, text=True, timeout=browser.PATIENCE)
        for where in ("somewhere", "127.0.0.1:0", "70000"):
            ended = refused(where)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn(f"--dashboard={where}: ", ended.stderr)
        self.assertIn("PORT or ADDR:PORT", refused("somewhere").stderr)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            ended = refused(taken.getsockname()[1])
        self.assertEqual(ended.returncode, 5, ended.stderr)
        self.assertIn("choose another one with --dashboard", ended.stderr)
        self.assertFalse((self.folder / "run").exists())


if __name__ == "__main__":
    unittest.main()
