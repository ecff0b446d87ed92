//! A headless Chromium, driven by the DevTools protocol over a pipe: real clicks and keys, and a record of everything
//! that the page logs or requests from the network.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use std::{env, fs, thread};

use serde_json::{Value, json};

/// Maximum time for any step before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// True if there is a browser to test with.
pub(crate) fn there_is_one() -> bool {
    let there = env::split_paths(&env::var_os("PATH").unwrap_or_default())
        .any(|folder| folder.join("chromium").is_file());
    assert!(
        there || env::var_os("FP_REQUIRE_CHROMIUM").is_none(),
        "chromium is missing"
    );
    if !there {
        println!("skipped: no chromium");
    }
    there
}

/// A tab in a browser of its own; dropping it closes the browser.
pub(crate) struct Tab {
    browser: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    last: u64,
    events: Vec<Value>,
    profile: tempfile::TempDir,
}

impl Tab {
    /// An empty tab of this size in a new profile.
    pub(crate) fn new(width: u32, height: u32) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The protocol uses file descriptors 3 and 4.
        let mut browser = Command::new("sh")
            .args([
                "-c",
                "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null",
                "sh",
            ])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args(["--disable-dev-shm-usage", "--remote-debugging-pipe"])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = browser.stdin.take().unwrap();
        let mut output = BufReader::new(browser.stdout.take().unwrap());
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            while output.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
                bytes.pop();
                let Ok(message) = serde_json::from_slice(&bytes) else {
                    break;
                };
                if sender.send(message).is_err() {
                    break;
                }
                bytes.clear();
            }
        });
        let mut tab = Self {
            browser,
            input,
            messages,
            session: None,
            last: 0,
            events: Vec::new(),
            profile,
        };
        let target =
            tab.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = tab.call(
            "Target.attachToTarget",
            json!({"targetId": target, "flatten": true}),
        );
        tab.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.size(width, height);
        tab
    }

    /// Resizes the page.
    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Makes one protocol call and returns its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.input.write_all(&bytes).unwrap();
        loop {
            let answer = self.message(method);
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn message(&mut self, waiting_for: &str) -> Value {
        let message = self.messages.recv_timeout(PATIENCE);
        message
            .unwrap_or_else(|error| panic!("{waiting_for}: the browser does not answer: {error}"))
    }

    /// Writes `page` to a file, opens it, and returns the processor time of its main thread until it is on the screen.
    pub(crate) fn open(&mut self, page: &str) -> Duration {
        let path = self.profile.path().join("page.html");
        fs::write(&path, page).unwrap();
        self.visit(&path)
    }

    /// Like [`Tab::open`], for a tab without scripts.
    pub(crate) fn open_still(&mut self, page: &str) {
        let path = self.profile.path().join("page.html");
        fs::write(&path, page).unwrap();
        self.load(&path);
    }

    fn visit(&mut self, path: &Path) -> Duration {
        self.call("Performance.enable", json!({}));
        self.load(path);
        // A page takes two frames to appear on the screen.
        self.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        let metrics = self.call("Performance.getMetrics", json!({}));
        let mut metrics = metrics["metrics"].as_array().unwrap().iter();
        let time = metrics.find(|metric| metric["name"] == "ThreadTime");
        Duration::from_secs_f64(time.unwrap()["value"].as_f64().unwrap())
    }

    fn load(&mut self, path: &Path) {
        self.events.clear();
        self.call(
            "Page.navigate",
            json!({"url": format!("file://{}", path.display())}),
        );
        while !self
            .events
            .iter()
            .any(|event| event["method"] == "Page.loadEventFired")
        {
            let event = self.message("the page's load");
            self.events.push(event);
        }
    }

    /// Evaluates an expression in the page, and awaits it if it is a promise.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let result = self.call("Runtime.evaluate", params);
        let failed = &result["exceptionDetails"];
        assert!(
            failed.is_null(),
            "{}: {failed}",
            expression.chars().take(200).collect::<String>()
        );
        result["result"]["value"].clone()
    }

    /// Evaluates an expression whose value is a string.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        self.eval(expression)
            .as_str()
            .unwrap_or_else(|| panic!("{expression} is no text"))
            .to_owned()
    }

    /// Clicks in the middle of the first element that matches `selector`.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'nearest', inline: 'nearest'}}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key: one character, or a name such as `ArrowDown`.
    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        let mut down =
            json!({"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        match key {
            "Enter" => down["text"] = "\r".into(),
            key if key.chars().count() == 1 => down["text"] = key.into(),
            _ => down["type"] = "rawKeyDown".into(),
        }
        self.call("Input.dispatchKeyEvent", down);
        self.call(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code}),
        );
    }

    /// Emulates a media feature that reflects a preference of the reader, such as `prefers-color-scheme`.
    pub(crate) fn prefer(&mut self, feature: &str, value: &str) {
        self.call(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": feature, "value": value}]}),
        );
    }

    /// Errors and messages from the page, and every address it requested other than its own.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        self.eval("0");
        let told = self
            .events
            .iter()
            .filter_map(|event| match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(event["params"]["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" => Some(event["params"]["args"].to_string()),
                "Log.entryAdded" => Some(event["params"]["entry"].to_string()),
                "Page.javascriptDialogOpening" => Some(format!("dialog: {}", event["params"])),
                "Network.requestWillBeSent" => {
                    let address = event["params"]["request"]["url"].as_str()?;
                    (!address.ends_with("/page.html")).then(|| format!("asked for {address}"))
                }
                _ => None,
            });
        told.collect()
    }

    /// The number of network requests seen. Zero means that nothing was recorded, since the page itself is a request.
    pub(crate) fn requests(&self) -> usize {
        self.events
            .iter()
            .filter(|event| event["method"] == "Network.requestWillBeSent")
            .count()
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        let _ = self
            .input
            .write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        for _ in 0..100 {
            if self.browser.try_wait().is_ok_and(|status| status.is_some()) {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}
