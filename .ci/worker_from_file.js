// Lets the search run in a page that was opened from a folder, where browsers refuse workers: a hidden frame is the worker.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inner = (this.inner = frame.contentWindow);
      inner.postMessage = (data) =>
        setTimeout(() => {
          const event = new MessageEvent("message", { data: structuredClone(data) });
          this.dispatchEvent(event);
          this.onmessage?.(event);
        });
      const script = inner.document.createElement("script");
      script.src = url;
      this.ready = new Promise((done) => (script.onload = done));
      inner.document.documentElement.append(script);
    }
    postMessage(data) {
      const event = new this.inner.MessageEvent("message", { data: structuredClone(data) });
      this.ready.then(() => setTimeout(() => this.inner.dispatchEvent(event)));
    }
    terminate() {
      this.inner.frameElement.remove();
    }
  };
