// The library colours the whole page automatically unless this is set before it is loaded.
const page = globalThis as { Prism?: unknown }
page.Prism = { manual: true, disableWorkerMessageHandler: true }
