import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { KUBERNETES } from '../world/kubernetes/build.ts'
import { buildGo } from '../world/tools/go.ts'
import { writeSchemas } from './schemas.ts'

/** docs/decisions/0038-chart.md says why these versions. */
export const HELM = '3.22.0'
export const KUBECONFORM = '0.8.0'

export interface ChartTools {
  /** Paths of the programs. */
  helm: string
  kubeconform: string
  /** Folder with a schema for each kind that the chart renders. */
  schemas: string
}

interface Surroundings {
  cache: string
  minutesLeft(): number
  say(text: string): void
}

const [major, minor] = KUBERNETES.split('.')

/** The cache of `npm run world`, so that both build each program once. */
export async function openCache(): Promise<string> {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const cache = process.env.WORLD_CACHE || join(base, 'platform-world')
  await mkdir(cache, { recursive: true })
  return cache
}

/**
 * Builds what the chart is checked with, where it is not in the cache yet.
 * @throws Unavailable without Go, or where a module cannot be had
 */
export async function prepareTools(surroundings: Surroundings): Promise<ChartTools> {
  const helm = await prepareHelm(surroundings)
  const kubeconform = await buildGo(
    {
      name: 'kubeconform',
      version: KUBECONFORM,
      source: { module: 'github.com/yannh/kubeconform', version: `v${KUBECONFORM}` },
      package: './cmd/kubeconform',
    },
    surroundings,
  )
  return { helm, kubeconform, schemas: await writeSchemas(surroundings.cache) }
}

/**
 * Path of Helm.
 * @throws Unavailable as `prepareTools`
 */
export const prepareHelm = (surroundings: Surroundings): Promise<string> =>
  buildGo(
    {
      name: 'helm',
      version: HELM,
      source: { module: 'helm.sh/helm/v3', version: `v${HELM}` },
      package: './cmd/helm',
      // The version of Kubernetes that it takes for granted where it asks no server, as its own releases have it.
      ldflags: ['pkg/chartutil', 'pkg/lint/rules']
        .flatMap((place) => [`k8sVersionMajor=${major}`, `k8sVersionMinor=${minor}`].map((set) => `${place}.${set}`))
        .concat(`internal/version.version=v${HELM}`)
        .map((set) => `-X helm.sh/helm/v3/${set}`)
        .join(' '),
    },
    surroundings,
  )
