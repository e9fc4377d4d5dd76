// Search in pages that are opened as files, where browsers start no workers: a hidden frame runs the worker's script instead.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = Object.assign(document.createElement("iframe"), { hidden: true });
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const run = (source) => new Promise((done, fail) => {
        const script = Object.assign(inner.document.createElement("script"), { src: source, onload: done, onerror: fail });
        inner.document.body.append(script);
      });
      inner.importScripts = async (...sources) => { for (const source of sources) await run(source); };
      this.ready = run(url);
    }
    postMessage(data) {
      const inner = this.frame.contentWindow;
      this.ready.then(() => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
    }
    terminate() { this.frame.remove(); }
  };
}
