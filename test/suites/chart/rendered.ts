import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { KUBERNETES } from '../world/kubernetes/build.ts'
import type { ChartTools } from './tools.ts'

export const CHART = join(import.meta.dirname, '../../../deploy/chart')
export const RELEASE = { name: 'acme', namespace: 'platform' }

export interface EnvVariable {
  name: string
  value?: string
  valueFrom?: { secretKeyRef: { name: string; key: string; optional?: boolean } }
}
export interface Container {
  name: string
  image: string
  command?: string[]
  env: EnvVariable[]
  securityContext: Record<string, unknown>
  resources: { requests: Record<string, string>; limits: Record<string, string> }
  lifecycle?: { preStop: { exec: { command: string[] } } }
  livenessProbe?: Probe
  readinessProbe?: Probe
  startupProbe?: Probe
  volumeMounts: { name: string; mountPath: string }[]
}
export interface Probe {
  httpGet?: { path: string; port: string }
  tcpSocket?: { port: string }
  exec?: { command: string[] }
}
export interface PodSpec {
  serviceAccountName: string
  automountServiceAccountToken: boolean
  terminationGracePeriodSeconds: number
  securityContext: { seccompProfile: { type: string } }
  initContainers?: Container[]
  containers: Container[]
  volumes: { name: string; hostPath?: object }[]
}
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> }
  spec: Record<string, unknown> & { template?: { spec: PodSpec } }
  data?: Record<string, string>
}

interface Outcome {
  code: number
  output: string
}

/** The programs that `npm run test:chart` has prepared. */
export function chartTools(): ChartTools {
  const told = process.env.CHART_TOOLS
  if (!told) throw new Error('CHART_TOOLS is not set; use npm run test:chart')
  return JSON.parse(told) as ChartTools
}

/** Runs a program; its output is both streams. */
export const run = (program: string, args: string[], input?: string): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const options = { timeout: 60_000, maxBuffer: 64 * 1024 * 1024 }
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error)
      else resolve({ code: Number(error?.code ?? 0), output: `${stdout}${stderr}` })
    })
    child.stdin?.end(input)
  })

/** The value files that the chart shows, by name. */
export const EXAMPLES = (await readdir(join(CHART, 'examples'))).map((file) => file.replace('.yaml', '')).sort()

export const example = (name: string): string => join(CHART, 'examples', `${name}.yaml`)

/** What `helm template` answers to a value file and single values (`a.b=c`). */
export function template(helm: string, name: string, set: string[] = []): Promise<Outcome> {
  const values = ['--values', example(name), ...set.flatMap((each) => ['--set-json', each])]
  const place = ['--namespace', RELEASE.namespace, '--kube-version', KUBERNETES]
  return run(helm, ['template', RELEASE.name, CHART, ...place, ...values])
}

/**
 * The objects of a value file.
 * @throws Error with what Helm says
 */
export async function render(helm: string, name: string, set: string[] = []): Promise<Manifest[]> {
  const { code, output } = await template(helm, name, set)
  if (code !== 0) throw new Error(output)
  return parseAllDocuments(output).flatMap((document) => {
    if ('errors' in document && document.errors.length > 0) throw document.errors[0]
    const manifest = document.toJS() as Manifest | null
    return manifest ? [manifest] : []
  })
}

/** The pods that objects describe, by component. */
export const podsOf = (manifests: readonly Manifest[]): Map<string, PodSpec> =>
  new Map(
    manifests.flatMap(({ metadata, spec }) =>
      spec?.template ? [[metadata.labels['app.kubernetes.io/component'] ?? '', spec.template.spec] as const] : [],
    ),
  )

export const containersOf = ({ initContainers = [], containers }: PodSpec): Container[] => [
  ...initContainers,
  ...containers,
]

export const ofKind = (manifests: readonly Manifest[], kind: string): Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind)
