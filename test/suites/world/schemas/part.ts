import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Part, type Tools, Unavailable } from '../part.ts'
import { installOpenTofu } from '../tools/engine.ts'
import { KUBERNETES } from '../tools/pinned-providers.ts'
import { installProvider, type Provider, writeEngineConfig } from '../tools/providers.ts'

/** The provider of each cloud. The prompts are written for these majors and say so where another differs. */
const PROVIDERS: Record<string, Provider> = {
  aws: { name: 'aws', version: '6.14.0' },
  azure: {
    name: 'azurerm',
    version: '5.2.0',
    source: {
      module: 'github.com/hashicorp/terraform-provider-azurerm',
      version: 'v1.44.1-0.20260824201233-fae580791926',
    },
    minutes: 120,
  },
  gcp: { name: 'google', version: '7.45.0' },
  kubernetes: KUBERNETES,
  oci: { namespace: 'oracle', name: 'oci', version: '8.28.0' },
}

/** One provider in `WORLD_PROVIDERS`, the JSON that the checks read. */
export interface Installed {
  cloud: string
  name: string
  source: string
  version: string
  /** It was built with some of its services only: what it does not know may exist. */
  isPartial: boolean
}

/** The real schema documents of the clouds' providers, and what the platform makes of them. */
export const part: Part = {
  name: 'schemas',
  about: "schema documents of the clouds' providers: every example of the prompts, the lint of prompts, the grounding",
  ci: false,
  install: async (tools) => {
    const engine = await installOpenTofu(tools)
    const installed: Installed[] = []
    const leftOut: string[] = []
    for (const [cloud, provider] of Object.entries(PROVIDERS))
      try {
        installed.push(await install(cloud, provider, tools))
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        leftOut.push(provider.name)
        tools.say(`left out: ${provider.name}: ${error.message}`)
      }
    if (installed.length === 0) throw new Unavailable(`none of ${leftOut.join(', ')} can be had here`)
    const described = installed.map(
      ({ name, version, isPartial }) => `${name} ${version}${isPartial ? ' in part' : ''}`,
    )
    return {
      version: described.join(', ') + (leftOut.length > 0 ? `; without ${leftOut.join(', ')}` : ''),
      env: {
        WORLD_ENGINE: join(engine, 'tofu'),
        WORLD_ENGINE_CONFIG: await writeEngineConfig(join(tools.cache, 'providers'), tools),
        WORLD_PROVIDERS: JSON.stringify(installed),
      },
    }
  },
}

/** A version that the mirror holds already, of the same major, is as good as the pinned one. */
async function install(cloud: string, provider: Provider, tools: Tools): Promise<Installed> {
  const { namespace = 'hashicorp', name } = provider
  const versions = await readdir(join(tools.cache, 'providers/registry.opentofu.org', namespace, name)).catch(() => [])
  const major = (version: string) => version.split('.')[0]
  const version = versions.find((each) => major(each) === major(provider.version)) ?? provider.version
  if (version === provider.version) await installProvider(provider, tools)
  const services = join(tools.cache, `terraform-provider-${name}-${version}`, 'services.txt')
  const isPartial = await stat(services).then(
    () => true,
    () => false,
  )
  return { cloud, name, source: `${namespace}/${name}`, version, isPartial }
}
