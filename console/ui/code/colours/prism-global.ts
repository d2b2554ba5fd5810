/// <reference path="./prism.d.ts" />
import Prism from 'prismjs/components/prism-core.js'

// The languages of the library expect it here.
const page = globalThis as { Prism?: unknown }
page.Prism = Prism
