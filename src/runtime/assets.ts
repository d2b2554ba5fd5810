import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

interface AssetSource {
  file: string
  content_type: string
}

const SCRIPT = 'text/javascript; charset=utf-8'
/** The files of the two documentation viewers. No other file can be read. */
const SOURCES: Record<string, AssetSource> = {
  'swagger-ui.css': { file: 'swagger-ui-dist/swagger-ui.css', content_type: 'text/css; charset=utf-8' },
  'swagger-ui-bundle.js': { file: 'swagger-ui-dist/swagger-ui-bundle.js', content_type: SCRIPT },
  'favicon-32x32.png': { file: 'swagger-ui-dist/favicon-32x32.png', content_type: 'image/png' },
  'redoc.standalone.js': { file: 'redoc/bundles/redoc.standalone.js', content_type: SCRIPT },
}
/** A logo, the only file that a viewer would load from another host. It is replaced by an empty image. */
const FOREIGN_IMAGE = 'https://cdn.redoc.ly/redoc/logo-mini.svg'
const EMPTY_IMAGE = 'data:image/gif;base64,R0lGODlhAQABAAAAACw='

/** Returns a reader of the viewers' files that reads each of them once; null for an unknown name. */
export function createAssetReader() {
  const resolver = createRequire(import.meta.url)
  const read = async ({ file, content_type }: AssetSource) => {
    const body = new Uint8Array(await readFile(resolver.resolve(file)))
    if (!file.endsWith('.js')) return { body, content_type }
    const text = new TextDecoder().decode(body).replaceAll(FOREIGN_IMAGE, EMPTY_IMAGE)
    return { body: new TextEncoder().encode(text), content_type }
  }
  const kept = new Map<string, ReturnType<typeof read>>()
  return async (name: string) => {
    const source = Object.hasOwn(SOURCES, name) ? SOURCES[name] : undefined
    if (!source) return null
    const reading = kept.get(name) ?? read(source)
    kept.set(name, reading)
    return reading
  }
}
