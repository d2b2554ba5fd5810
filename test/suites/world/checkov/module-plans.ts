import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { CodeFile } from '../../../../src/plan/code/modules.ts'
import { createEngine } from '../aws/engine.ts'

/** An example of a public module: its plan as the engine shows it, and the code that it is made of. */
export interface ExamplePlan {
  /** `<owner>/<module>/<example>` */
  name: string
  json: string
  code: CodeFile[]
}

/** An example that this machine cannot plan. */
export interface Unplanned {
  name: string
  why: string
}

/**
 * Plans the examples of public modules, which are changed in no way but that modules of the registry are taken from the
 * same folder: data sources that find nothing, and providers that are not here, leave an example out.
 * @param modules folder of checkouts, `<owner>/terraform-<provider>-<name>`
 * @param home an empty folder
 * @param env of the engine and its providers
 * @param told called with each example as soon as it is planned, or not
 */
export async function planExamples(
  modules: string,
  home: string,
  env: Record<string, string>,
  told: (example: ExamplePlan | Unplanned) => Promise<void>,
): Promise<void> {
  const copy = join(home, 'modules')
  await cp(modules, copy, { recursive: true })
  const code = await codeIn(copy)
  const known = new Set(code.map(({ path }) => path.split('/').slice(0, 2).join('/')))
  for (const file of code) {
    file.text = withLocalModules(file, known)
    await writeFile(join(copy, file.path), file.text)
  }
  const examples = [
    ...new Set(code.flatMap(({ path }) => /^[^/]+\/[^/]+\/examples\/[^/]+(?=\/[^/]+$)/.exec(path) ?? [])),
  ]
  for (const folder of examples.sort()) {
    const name = folder.replace('/examples/', '/')
    const engine = await createEngine(join(copy, folder), env)
    const values = (await readdir(engine.folder)).filter((file) => file.endsWith('.tfvars')).slice(0, 1)
    const steps = [
      ['init', '-input=false', '-backend=false'],
      ['plan', '-input=false', '-lock=false', '-out=example.plan', ...values.map((file) => `-var-file=${file}`)],
      ['show', '-json', 'example.plan'],
    ]
    let json = ''
    let why: string | null = null
    for (const step of steps) {
      const { code: exit, stdout, stderr } = await engine.run(...step)
      json = stdout
      if (exit !== 0) why ??= `${step[0]}: ${/Error: .*(?:\n[^\n]*){0,6}/.exec(stderr)?.[0] ?? stderr.slice(-400)}`
      if (why !== null) break
    }
    await told(
      why === null
        ? { name, json, code: code.map(({ path, text }) => ({ path: relative(folder, path), text })) }
        : { name, why },
    )
  }
}

async function codeIn(root: string): Promise<CodeFile[]> {
  const paths = (await readdir(root, { recursive: true })).filter((path) => path.endsWith('.tf')).sort()
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })))
}

const SOURCE = /(source\s*=\s*)"([\w-]+)\/([\w-]+)\/([\w-]+)(?:\/\/([^"]*))?"(\s*\n\s*version\s*=\s*"[^"]*")?/g

/** Takes modules of the registry that are in the folder from there. */
const withLocalModules = ({ path, text }: CodeFile, known: ReadonlySet<string>): string =>
  text.replaceAll(SOURCE, (whole, start: string, owner: string, name: string, provider: string, inner = '') => {
    const module = `${owner}/terraform-${provider}-${name}`
    if (!known.has(module)) return whole
    return `${start}"${relative(join('/', path, '..'), join('/', module, inner))}"`
  })
