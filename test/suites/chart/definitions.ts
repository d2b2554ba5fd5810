import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { moduleFolder } from './modules.ts'

export type Schema = Record<string, unknown>

/** The kinds of others that the chart may render: module, version, and files of definitions below it. */
const OTHERS = [
  ['sigs.k8s.io/gateway-api', 'v1.6.3', ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml']],
  ['github.com/kedacore/keda/v2', 'v2.21.0', ['config/crd/bases/keda.sh_scaledobjects.yaml']],
  [
    'github.com/prometheus-operator/prometheus-operator',
    'v0.85.0',
    ['servicemonitors', 'prometheusrules'].map(
      (kind) => `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
    ),
  ],
] as const

/** A definition of a kind, as an API server takes it. */
export interface Definition {
  metadata: { name: string }
  spec: {
    group: string
    names: { kind: string; plural: string }
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[]
  }
}

/**
 * The definitions (CRDs) of the kinds of others, from the Go modules of their projects.
 * @throws Unavailable without Go or a module
 */
export async function readDefinitions(): Promise<Definition[]> {
  const read = OTHERS.map(async ([module, version, files]) => {
    const folder = await moduleFolder(module, version)
    return Promise.all(files.map(async (file) => parse(await readFile(join(folder, file), 'utf8')) as Definition))
  })
  return (await Promise.all(read)).flat()
}

/** Names and versions of their modules. */
export const sourcesOfDefinitions = (): string[] => OTHERS.map(([module, version]) => `${module} ${version}`)
