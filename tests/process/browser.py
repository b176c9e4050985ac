"""Debian's Chromium without a screen, over its DevTools protocol, for tests of pages."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time

CHROMIUM = shutil.which("chromium")
PATIENCE = 60 * float(os.environ.get("TEST_SLOWNESS", "1"))  # seconds, on a busy machine


def living_processes(session):
    """The processes of a session that are not zombies."""
    living = []
    for folder in os.listdir("/proc"):
        if not folder.isdigit():
            continue
        try:
            with open(f"/proc/{folder}/stat", encoding="utf-8", errors="replace") as file:
                state, _, _, its_session = file.read().rpartition(")")[2].split()[:4]
        except OSError:
            continue  # it has ended meanwhile
        if int(its_session) == session and state != "Z":
            living.append(int(folder))
    return living


class Browser:
    """One tab. Whatever a page complains of, and asks a network for, is kept."""

    def __init__(self, folder):
        from_browser, its_output = os.pipe()
        its_input, to_browser = os.pipe()

        def connect():
            # The protocol is spoken over descriptors 3 and 4.
            ours = [os.dup(its_input), os.dup(its_output)]
            os.dup2(ours[0], 3)
            os.dup2(ours[1], 4)

        self.log = open(os.path.join(folder, "chromium.log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-crash-reporter", "--remote-debugging-pipe", f"--user-data-dir={folder}/profile", "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, start_new_session=True, env=dict(os.environ, HOME=str(folder)))
        os.close(its_input)
        os.close(its_output)
        self.reader, self.writer = from_browser, to_browser
        self.pending = b""
        self.calls = 0
        self.session = None
        self.events = []
        self.complaints = []
        self.requests = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        """Until none of its processes is left, to write into the folder."""
        deadline = time.monotonic() + PATIENCE
        while living := living_processes(self.process.pid):
            if time.monotonic() > deadline:
                raise AssertionError(f"of Chromium there are still the processes {living}")
            for process in living:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.poll()
            time.sleep(0.005)
        self.process.wait()
        os.close(self.reader)
        os.close(self.writer)
        self.log.close()

    def call(self, method, **parameters):
        self.calls += 1
        message = {"id": self.calls, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.calls:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self):
        """The next message; events are looked at on the way."""
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.reader], [], [], max(0, deadline - time.monotonic()))
            more = os.read(self.reader, 1 << 20) if ready else b""
            if not more:
                self.log.seek(0)
                raise AssertionError("Chromium does not answer: " + self.log.read()[-2000:])
            self.pending += more
        text, self.pending = self.pending.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message:
            self.note(message["method"], message["params"])
        return message

    def note(self, method, parameters):
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(parameters["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def resize(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.await_page(lambda: self.call("Page.navigate", url=url))

    def await_page(self, act):
        """Until what `act` leads to has been loaded."""
        self.events.clear()
        act()
        while "Page.loadEventFired" not in self.events:
            self.receive()

    def becomes(self, condition):
        """Waits until it holds, looking whenever the page changes."""
        return self.value(f"""new Promise((done) => {{
          const look = () => {{ if ({condition}) done(true); }};
          new MutationObserver(look).observe(document, {{
            subtree: true, childList: true, characterData: true }});
          setTimeout(() => done(false), {PATIENCE * 500});
          look();
        }})""")

    def value(self, expression):
        """Of an expression of JavaScript, as JSON has it; a promise is awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def press(self, key, code=0):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, text={" ": " ", "Enter": "\r"}.get(key, ""))

    def type(self, selector, text):
        """Into the field that this selector of CSS finds."""
        self.value(f"document.querySelector({selector!r}).focus()")
        self.call("Input.insertText", text=text)

    def screenshot(self, path):
        height = self.value("document.documentElement.scrollHeight")
        width = self.value("window.innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        image = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))
