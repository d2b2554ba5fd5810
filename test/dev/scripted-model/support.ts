import { execFile } from 'node:child_process'
import { cp, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startScriptedModel } from '../../../dev/scripted-model/start.ts'
import { fileTools } from '../../../pipeline/tools/edit.ts'
import { inspectionTools } from '../../../pipeline/tools/look.ts'
import { createFileAccess } from '../../../pipeline/workspace/files/access.ts'
import { createGit } from '../../../pipeline/workspace/git/git.ts'
import { readBranchDiff } from '../../../pipeline/workspace/versions.ts'
import type { FileDiff } from '../../../src/plan/code/compare.ts'
import { engineOnPath } from '../../helpers/engine.ts'
import { siteConfig } from '../../pipeline/workspace/support.ts'

const run = promisify(execFile)

export interface Message {
  role: string
  content: string | null
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}
interface Completion {
  model: string
  choices: { message: Message; finish_reason: string }[]
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

const INSPECTION = ['read_file', 'list_dir', 'bulk_grep_search', 'diff_history']
export const EDITING = [...INSPECTION, 'write_to_file', 'replace_in_file', 'delete_file', 'web_search']

interface ChainOptions {
  /** By default those that inspect. */
  tools?: string[]
  history?: Message[]
  system?: string
}

/** Arguments of the sentinel, with all keys optional. */
interface ChainEnd {
  args: Arguments
  called: string[]
}
interface Arguments {
  status: unknown
  explanation: string
  summary: unknown
  operations: string[]
  targets: string[]
  imports: { address: string; resource_id: string }[]
  violations: object[]
  title: string
  description: string
  [key: string]: unknown
}

/** The scripted model over HTTP with a clone of a sample repository, which the pipeline's own tools read and change. */
export interface Scripted {
  url: string
  folder: string
  complete(messages: Message[], tools: string[]): Promise<Completion>
  /** Plays the loop until the sentinel is called. Returns its arguments and the names of all calls. */
  chain(sentinel: string, query: string, options?: ChainOptions): Promise<ChainEnd>
  /** Returns the changes of the session, as the workspace reads them. */
  branchDiff(): Promise<FileDiff[]>
  /** Runs the engine and returns its output, also that of a failure. */
  engine(...args: string[]): Promise<{ stdout: string; stderr: string }>
  close(): Promise<void>
}

export async function startScripted(sample: string, iac_path = '.'): Promise<Scripted> {
  const model = await startScriptedModel()
  const clone = await realpath(await mkdtemp(join(tmpdir(), 'scripted-model-')))
  const folder = join(clone, iac_path)
  await cp(`dev/samples/${sample}`, clone, { recursive: true })
  const git = async (...args: string[]) =>
    (await run('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: clone })).stdout
  await git('init', '--quiet', '--initial-branch=main')
  await git('add', '--all')
  await git('commit', '--quiet', '-m', 'sample')
  const config = siteConfig(clone)
  const place = { workTree: clone, directory: join(clone, '.git') }
  const local = createGit(config.git, 'https://example.com/a.git', place, { resolver: async () => [] })
  const checkout = {
    git: local,
    iacRoot: folder,
    branch: 'main',
    defaultBranch: 'main',
    base: 'main',
    paths: config.paths,
  }
  const branchDiff = () => readBranchDiff(checkout, 'main')
  const access = createFileAccess(config, { iacRoot: folder, clone, gitDirectory: place.directory })
  const tools = new Map(
    [...fileTools(access), ...inspectionTools(access, { branchDiff })].map((tool) => [tool.definition.name, tool]),
  )
  const answer = async (name: string, args: Record<string, unknown>): Promise<string> => {
    try {
      const value = await tools.get(name)?.run(args, new AbortController().signal)
      return typeof value === 'string' ? value : JSON.stringify(value ?? 'Tool not found')
    } catch (error) {
      return error instanceof Error ? error.message : 'failed'
    }
  }
  const complete: Scripted['complete'] = async (messages, names) => {
    const offered = names.map((name) => ({ type: 'function', function: { name, parameters: {} } }))
    const body = JSON.stringify({ model: 'scripted-model', messages, tools: offered })
    const response = await fetch(`${model.url}/v1/chat/completions`, { method: 'POST', body })
    if (response.status !== 200) throw new Error(`the model answered ${response.status}`)
    return (await response.json()) as Completion
  }
  return {
    url: model.url,
    folder,
    complete,
    branchDiff,
    chain: async (sentinel, query, { tools: names = INSPECTION, history = [], system = 'rules' } = {}) => {
      const messages: Message[] = [{ role: 'system', content: system }, ...history, { role: 'user', content: query }]
      const called: string[] = []
      for (let turn = 0; turn < 10; turn++) {
        const message = (await complete(messages, [...names, sentinel])).choices[0]?.message
        if (!message?.tool_calls) throw new Error(`the model answered without a call: ${message?.content}`)
        messages.push(message)
        for (const { id, function: call } of message.tool_calls) {
          const args = JSON.parse(call.arguments) as Arguments
          called.push(call.name)
          if (call.name === sentinel) return { args, called }
          messages.push({ role: 'tool', tool_call_id: id, content: await answer(call.name, args) })
        }
      }
      throw new Error(`no ${sentinel} within ten turns: ${called.join(', ')}`)
    },
    engine: async (...args) =>
      run(await engineOnPath(), args, { cwd: folder, env: { ...process.env, TF_CLI_CONFIG_FILE: '/dev/null' } }).catch(
        (error: Error & { stdout: string; stderr: string }) => ({ stdout: error.stdout, stderr: error.stderr }),
      ),
    close: async () => {
      await model.close()
      await rm(clone, { recursive: true, force: true })
    },
  }
}
