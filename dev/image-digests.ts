import { readFile, writeFile } from 'node:fs/promises'

const HELP = `Usage: npm run images [-- --write]

Asks the registries for every image that Dockerfile and compose.yaml name, and prints its digest. With --write the
digest that each tag has now goes into these files. Exit code 1 when an image has no digest, or one that its registry
does not serve.`

const FILES = ['Dockerfile', 'compose.yaml']

/** An image with its full version, and a digest where it is pinned. */
interface Image {
  /** As it is written, without the digest. */
  name: string
  pinned: string | null
}

const NAMED = /(?:^\s*image: |_IMAGE=)([\w./-]+(?::\d+)?(?:\/[\w./-]+)*:[\w.-]+)(?:@(sha256:[0-9a-f]{64}))?(?=\s)/gm

/** Lists the images of a text that registries have; the project's own is built where it runs. */
export const imagesIn = (text: string): Image[] =>
  [...text.matchAll(NAMED)]
    .map(([, name = '', pinned = null]) => ({ name, pinned }))
    .filter(({ name }) => !name.endsWith(':local'))

const TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]

/** Returns the digest that a registry has for a tag or digest; null when it has none. Errors: no usable answer. */
async function digestOf(name: string, reference: string): Promise<string | null> {
  const path = name.slice(0, name.lastIndexOf(':')).split('/')
  const hasHost = path.length > 1 && /[.:]/.test(path[0] ?? '')
  const host = hasHost ? path.shift() : 'registry-1.docker.io'
  const repository = path.length === 1 && !hasHost ? `library/${path[0]}` : path.join('/')
  const url = `https://${host}/v2/${repository}/manifests/${reference}`
  const ask = (headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'HEAD',
      headers: { accept: TYPES.join(', '), ...headers },
      signal: AbortSignal.timeout(30_000),
    })
  let answer = await ask()
  if (answer.status === 401) answer = await ask({ authorization: await signIn(answer, repository) })
  if (answer.status === 404) return null
  const digest = answer.headers.get('docker-content-digest')
  if (!answer.ok || digest === null) throw new Error(`${url} answered ${answer.status}`)
  return digest
}

/** Gets the token of an anonymous reader, from where the registry's refusal says. */
async function signIn(refusal: Response, repository: string): Promise<string> {
  const challenge = refusal.headers.get('www-authenticate') ?? ''
  const [realm = '', service = ''] = ['realm', 'service'].map((key) => challenge.match(`${key}="([^"]*)"`)?.[1] ?? '')
  const query = new URLSearchParams({ service, scope: `repository:${repository}:pull` })
  const answer = await fetch(`${realm}?${query}`, { signal: AbortSignal.timeout(30_000) })
  const body: unknown = await answer.json()
  const token = typeof body === 'object' && body !== null && 'token' in body ? body.token : null
  if (typeof token !== 'string') throw new Error(`${realm} gave no token`)
  return `Bearer ${token}`
}

/** Compares an image with its registry. `current` is the digest of its tag now. Errors: no usable answer. */
export async function compareImage({ name, pinned }: Image) {
  const current = await digestOf(name, name.slice(name.lastIndexOf(':') + 1))
  if (current === null) throw new Error(`the registry has no ${name}`)
  if (pinned === null) return { current, good: false, said: `has no digest here; its tag is ${current}` }
  if (pinned === current) return { current, good: true, said: `is ${pinned}` }
  const served = (await digestOf(name, pinned)) !== null
  return {
    current,
    good: served,
    said: `is pinned to ${pinned}, which the registry ${served ? 'still serves' : 'DOES NOT SERVE'}; its tag is now ${current}`,
  }
}

async function run(write: boolean): Promise<number> {
  let code = 0
  for (const file of FILES) {
    let text = await readFile(file, 'utf8')
    for (const image of imagesIn(text)) {
      const { current, good, said } = await compareImage(image)
      console.log(`${file}: ${image.name} ${said}`)
      if (!good && !write) code = 1
      const written = image.pinned === null ? image.name : `${image.name}@${image.pinned}`
      text = text.replaceAll(written, `${image.name}@${current}`)
    }
    if (write) await writeFile(file, text)
  }
  return code
}

if (import.meta.main)
  if (process.argv[2] === '--help') console.log(HELP)
  else
    try {
      process.exitCode = await run(process.argv[2] === '--write')
    } catch (error) {
      console.error(`The images could not be compared: ${error instanceof Error ? error.message : error}`)
      process.exitCode = 2
    }
