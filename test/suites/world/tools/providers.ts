import { copyFile, link, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Tools, Unavailable } from '../part.ts'
import { output } from './command.ts'
import { buildGo, type GoProgram } from './go.ts'

/** A provider of an engine. */
export interface Provider {
  /** Default: `hashicorp`. */
  namespace?: string
  /** Without its namespace. */
  name: string
  /** Without `v`. */
  version: string
  /** The source of a build where no registry is reachable. Without one it comes from a registry or not at all. */
  source?: GoProgram['source']
  minutes?: number
  /** Steps of the build from source, where they are not the usual ones. */
  build?: Partial<Pick<GoProgram, 'name' | 'ldflags' | 'gcflags' | 'prepare'>>
}

const REGISTRIES = ['registry.opentofu.org', 'registry.terraform.io']
const ARCHITECTURES: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }
const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}_${ARCHITECTURES[process.arch]}`

/**
 * Puts a provider into a mirror in the file system that both engines read, from the registry where it is reachable and
 * built from source elsewhere.
 * @returns the mirror's folder: `<host>/<namespace>/<name>/<version>/<os>_<arch>/terraform-provider-<name>_v<version>`
 * @throws Unavailable when neither works
 */
export async function installProvider(provider: Provider, tools: Tools): Promise<string> {
  const { namespace = 'hashicorp', name, version } = provider
  const mirror = join(tools.cache, 'providers')
  const folders = REGISTRIES.map((host) => join(mirror, host, namespace, name, version, PLATFORM))
  const file = `terraform-provider-${name}_v${version}`
  if (await stat(join(folders[0] as string, file)).catch(() => null)) return mirror
  const program = await obtain(provider, tools)
  for (const folder of [...folders].reverse()) {
    await mkdir(folder, { recursive: true })
    await rm(join(folder, file), { force: true })
    await link(program, join(folder, file)).catch(() => copyFile(program, join(folder, file)))
  }
  return mirror
}

/** Configuration of an engine that takes providers from the mirror alone; for `TF_CLI_CONFIG_FILE`. */
export async function writeEngineConfig(mirror: string, { folder }: Tools): Promise<string> {
  const path = join(folder, 'engine.tfrc')
  await writeFile(
    path,
    `provider_installation {\n  filesystem_mirror {\n    path = ${JSON.stringify(mirror)}\n  }\n}\n`,
  )
  return path
}

async function obtain(provider: Provider, tools: Tools): Promise<string> {
  const { name, version, source, minutes, build } = provider
  const downloaded = await download(provider, tools).catch((error: Error) => error)
  if (typeof downloaded === 'string') return downloaded
  if (!source) throw new Unavailable(`no registry has it for this machine (${downloaded.message})`)
  try {
    const program = { name: `terraform-provider-${name}`, version, source, package: '.', minutes }
    return await buildGo({ ...program, ldflags: `-X main.version=${version}`, ...build }, tools)
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    throw new Unavailable(`no registry (${downloaded.message}), and not built: ${error.message}`)
  }
}

async function download({ namespace = 'hashicorp', name, version }: Provider, { cache }: Tools): Promise<string> {
  const folder = await mkdtemp(join(cache, '.provider-'))
  try {
    await writeFile(
      join(folder, 'main.tf'),
      `terraform {\n  required_providers {\n    ${name} = {\n      source  = "${namespace}/${name}"\n      version = "${version}"\n    }\n  }\n}\n`,
    )
    const mirror = join(folder, 'mirror')
    const engine = await output('which', ['tofu']).then(
      () => 'tofu',
      () => 'terraform',
    )
    await output(engine, ['providers', 'mirror', mirror], { cwd: folder, minutes: 10 })
    const kept = join(cache, `terraform-provider-${name}-${version}`)
    await mkdir(kept, { recursive: true })
    await output('sh', ['-c', `unzip -o -q "$(find '${mirror}' -name '*.zip')" -d '${folder}/unpacked'`])
    const program = join(kept, `terraform-provider-${name}`)
    await output('sh', ['-c', `mv "$(find '${folder}/unpacked' -name 'terraform-provider-*')" '${program}'`])
    return program
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
