import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readCsv } from '../../../../eval/iac-eval/csv.ts'
import { addProviders } from '../../../../eval/scenario/load.ts'
import { readScenario, type Scenario } from '../../../../eval/scenario/scenario.ts'

/** A scenario of the data set with its own solution. */
export interface Reference {
  scenario: Scenario
  code: string
}

/**
 * The cases of the data set in that folder (`data.csv` as it is published); without one, the templates of its
 * repository that have both a configuration and a policy.
 */
export async function loadReferences(repository: string, data: string): Promise<Reference[]> {
  const found = data ? await fromData(data) : await fromTemplates(join(repository, 'templates'))
  return Promise.all(
    found.map(async ({ name, code, rego }) => {
      const scenario = await addProviders(
        readScenario(`iac-eval/${name}`, {
          cloud: 'aws',
          request: `Reference ${name}.`,
          repository: { files: { 'README.md': '# Infrastructure\n' } },
          providers: ['aws'],
          expect: { status: 'completed' },
        }),
      )
      return { scenario: { ...scenario, rego }, code: withoutProvider(code) }
    }),
  )
}

interface Found {
  name: string
  code: string
  rego: string
}

async function fromData(folder: string): Promise<Found[]> {
  const rows = readCsv(await readFile(join(folder, 'data.csv'), 'utf8'))
  return rows.flatMap((row, index) => {
    const [code = '', rego = ''] = [row['Reference output'], row['Rego intent']]
    return code.trim() && rego.trim() ? [{ name: `case-${String(index + 1).padStart(3, '0')}`, code, rego }] : []
  })
}

async function fromTemplates(folder: string): Promise<Found[]> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('main.tf')).sort()
  const found = await Promise.all(
    paths.map(async (path) => {
      const type = path.split('/')[0] ?? ''
      const rego = await readFile(join(folder, type, 'template.rego'), 'utf8').catch(() => '')
      return { name: path.replace(/\/main\.tf$/, ''), code: await readFile(join(folder, path), 'utf8'), rego }
    }),
  )
  return found.filter(({ rego }) => rego.trim() !== '')
}

/** The repository of a scenario has the block of the provider already, and a root has it once. */
const withoutProvider = (code: string) => code.replaceAll(/^(provider "aws"|terraform) \{[\s\S]*?^\}\n?/gm, '')
