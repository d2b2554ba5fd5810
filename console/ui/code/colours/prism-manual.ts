// The library colours the whole page by itself unless it is told not to, before it is loaded.
const page = globalThis as { Prism?: unknown }
page.Prism = { manual: true, disableWorkerMessageHandler: true }
