import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const SERVICE_IMPORT = /"github\.com\/hashicorp\/terraform-provider-aws\/internal\/service\/([a-z0-9]+)[/"]/g
const PACKAGES = 'internal/provider/service_packages_gen.go'
const CLIENTS = 'internal/conns/awsclient_gen.go'

/**
 * Takes all services but these, and those that they import, out of the source of the provider for AWS: out of the two
 * generated lists that name every service. What stays is compiled unchanged. With all services the build takes hours on
 * a small machine, and most of that for services that no check asks for.
 * @param source folder of the provider's module, writable
 * @returns the services that stay
 */
export async function keepServices(source: string, wanted: readonly string[]): Promise<string[]> {
  const texts = new Map<string, string>()
  const waiting = [...wanted]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (texts.has(name)) continue
    const text = await codeOf(join(source, 'internal/service', name))
    texts.set(name, text)
    waiting.push(...[...text.matchAll(SERVICE_IMPORT)].map(([, other]) => other as string))
  }
  await rewrite(join(source, PACKAGES), (text) =>
    text
      .split('\n')
      .filter((line) => {
        const name =
          /internal\/service\/(\w+)"$/.exec(line)?.[1] ?? /^\t\t(\w+)\.ServicePackage\(ctx\),$/.exec(line)?.[1]
        return name === undefined || texts.has(name)
      })
      .join('\n'),
  )
  const all = [...texts.values(), await codeOf(join(source, 'internal/conns'), [CLIENTS.split('/').at(-1) as string])]
  const called = new Set(all.flatMap((text) => [...text.matchAll(/\.(\w+(?:Client|Conn))\(/g)].map(([, name]) => name)))
  await rewrite(join(source, CLIENTS), (text) => dropUnusedImports(dropMethods(text, called)))
  return [...texts.keys()].sort()
}

const dropMethods = (text: string, called: ReadonlySet<string | undefined>) =>
  text.replaceAll(/\nfunc \(c \*AWSClient\) (\w+)\([^\n]*\n(?:\t[^\n]*\n)*\}\n/g, (method, name: string) =>
    called.has(name) ? method : '',
  )

function dropUnusedImports(text: string): string {
  const body = text.slice(text.indexOf('\n)\n'))
  return text.replaceAll(/^\t(?:(\w+) )?"([^"]+)"\n/gm, (line, alias: string | undefined, path: string) => {
    const name = alias ?? path.split('/').at(-1)
    return new RegExp(`\\b${name}\\.`).test(body) ? line : ''
  })
}

async function codeOf(folder: string, without: string[] = []): Promise<string> {
  const names = (await readdir(folder)).filter(
    (name) => name.endsWith('.go') && !name.endsWith('_test.go') && !without.includes(name),
  )
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('\n')
}

async function rewrite(path: string, change: (text: string) => string): Promise<void> {
  await writeFile(path, change(await readFile(path, 'utf8')))
}
