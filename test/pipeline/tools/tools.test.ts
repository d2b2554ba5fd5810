import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { fileTools } from '../../../pipeline/tools/edit.ts'
import { inspectionTools } from '../../../pipeline/tools/look.ts'
import { webSearchTool } from '../../../pipeline/tools/look-up.ts'
import { createFileAccess } from '../../../pipeline/workspace/files/access.ts'
import { type Tool, ToolError } from '../../../src/agent/agent-request.ts'
import { PlatformError } from '../../../src/base/errors.ts'
import type { LlmClient } from '../../../src/llm/inference.ts'
import type { FileDiff } from '../../../src/plan/code/compare.ts'
import { useFolder } from '../../helpers/folder.ts'
import { git_, siteConfig } from '../workspace/support.ts'

const folder = useFolder(beforeEach)
let tools: Map<string, Tool>
let diff: FileDiff[]

beforeEach(async () => {
  await git_(['init', '--quiet', folder.path])
  await writeFile(join(folder.path, 'main.tf'), 'one\ntwo\n')
  diff = []
  const access = createFileAccess(siteConfig(folder.path), {
    iacRoot: folder.path,
    clone: folder.path,
    gitDirectory: join(folder.path, '.git'),
  })
  const all = [...fileTools(access), ...inspectionTools(access, { branchDiff: async () => diff })]
  tools = new Map(all.map((tool) => [tool.definition.name, tool]))
})

const signal = new AbortController().signal
const call = async (name: string, args: Record<string, unknown>) => tools.get(name)?.run(args, signal)

describe('the tools of an agent', () => {
  it('are the ones of the contract, with what is required of their arguments', () => {
    const required = Object.fromEntries(
      [...tools].map(([name, { definition }]) => [name, definition.parameters.required]),
    )
    expect(required).toEqual({
      write_to_file: ['target_file', 'content'],
      replace_in_file: ['target_file', 'diff'],
      delete_file: ['target_file'],
      read_file: ['target_file'],
      list_dir: ['relative_workspace_path'],
      bulk_grep_search: ['searches'],
      diff_history: expect.anything(),
    })
    for (const { definition } of tools.values()) expect(definition.parameters.type).toBe('object')
  })

  it('accept an explanation, which few of them offer', async () => {
    const args = {
      target_file: 'main.tf',
      relative_workspace_path: '.',
      searches: [{ query: 'two' }],
      explanation: 'why',
    }
    for (const name of ['read_file', 'list_dir', 'bulk_grep_search', 'diff_history'])
      expect(await call(name, args), name).toBeTypeOf('string')
    const offering = [...tools].filter(([, { definition }]) =>
      Object.keys(definition.parameters.properties ?? {}).includes('explanation'),
    )
    expect(offering.map(([name]) => name)).toEqual(['bulk_grep_search', 'diff_history'])
  })

  it('take null and the empty text for a glob that is not given', async () => {
    for (const none of [null, '', undefined]) {
      const searches = [{ query: 'two', include_pattern: none, exclude_pattern: none }]
      expect(await call('bulk_grep_search', { searches })).toBe('Matches of "two":\nmain.tf:2:two')
    }
  })

  it('say which of them change files', () => {
    const mutating = [...tools].filter(([, tool]) => tool.mutates).map(([name]) => name)
    expect(mutating).toEqual(['write_to_file', 'replace_in_file', 'delete_file'])
  })

  it('do their work', async () => {
    await call('write_to_file', { target_file: 'a/new.tf', content: 'x', explanation: 'why' })
    expect(await call('read_file', { target_file: 'a/new.tf' })).toBe('x')
    await call('replace_in_file', { target_file: 'main.tf', diff: '<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE' })
    expect(await readFile(join(folder.path, 'main.tf'), 'utf8')).toBe('1\ntwo\n')
    expect(await call('list_dir', { relative_workspace_path: '.' })).toBe('a/\nmain.tf')
    await call('delete_file', { target_file: 'main.tf' })
    await call('delete_file', { target_file: 'a/new.tf' })
    expect(await call('list_dir', { relative_workspace_path: 'a' })).toBe('The directory is empty')
  })

  it('say when a file has the content already', async () => {
    const write = (content: string, target_file = 'main.tf') => call('write_to_file', { target_file, content })
    expect(await write('one\ntwo\n')).toBe('File main.tf already has this content')
    expect(await write('two\none\n')).toBe('File main.tf was written')
    expect(await readFile(join(folder.path, 'main.tf'), 'utf8')).toBe('two\none\n')
    expect(await write('', 'empty.tf')).toBe('File empty.tf was written')
  })

  it('list a directory that is read as a file', async () => {
    await call('write_to_file', { target_file: 'a/new.tf', content: 'x' })
    expect(await call('read_file', { target_file: 'a' })).toBe('a is a directory. Read one of its files:\na/new.tf')
    expect(await call('read_file', { target_file: '.' })).toBe('. is a directory. Read one of its files:\na/\nmain.tf')
    await expect(call('read_file', { target_file: '.git' })).rejects.toThrow('not accessible')
    await expect(call('read_file', { target_file: 'b' })).rejects.toThrow('File b does not exist')
  })

  it('refuse arguments of the wrong kind', async () => {
    await expect(call('read_file', { target_file: 7 })).rejects.toBeInstanceOf(ToolError)
    await expect(call('write_to_file', { target_file: 'x.tf', content: { a: 1 } })).rejects.toBeInstanceOf(ToolError)
    await expect(call('bulk_grep_search', { searches: 'x' })).rejects.toBeInstanceOf(ToolError)
  })

  it('show the branch diff as text', async () => {
    expect(await call('diff_history', { explanation: 'what happened' })).toBe('Nothing was changed yet')
    diff = [
      { path: 'b.tf', change: 'changed', text: '@@ -1 +1 @@\n-y\n+x' },
      { path: 'a.tf', change: 'new', text: '"quoted"\n' },
    ]
    const text = '--- b.tf (changed) ---\n@@ -1 +1 @@\n-y\n+x\n\n--- a.tf (new file, whole) ---\n"quoted"'
    expect(await call('diff_history', {})).toBe(text)
  })
})

describe('bulk search', () => {
  it('answers each search by itself, a bad one with its error', async () => {
    const searches = [
      { query: 'one' },
      { query: '(' },
      { query: 'TWO', case_sensitive: true },
      { query: 'two', include_pattern: null },
    ]
    const answer = String(await call('bulk_grep_search', { searches, explanation: 'why' }))
    const parts = answer.split('\n\nMatches of ')
    expect(parts).toHaveLength(4)
    expect(parts[0]).toBe('Matches of "one":\nmain.tf:1:one')
    expect(parts[1]).toContain('The search failed')
    expect(parts[2]).toBe('"TWO":\n(none)')
    expect(parts[3]).toBe('"two":\nmain.tf:2:two')
  })

  it('takes one to twenty searches', async () => {
    const many = (count: number) =>
      call('bulk_grep_search', { searches: Array.from({ length: count }, () => ({ query: 'one' })) })
    await expect(many(0)).rejects.toThrow('at least one')
    await expect(many(21)).rejects.toThrow('at most 20')
    expect(String(await many(20)).match(/main\.tf:1:one/g)).toHaveLength(20)
  })
})

describe('web search', () => {
  const searching = (search: LlmClient['search']) =>
    webSearchTool({ search, complete: () => Promise.reject(new Error('not used')) }, 'main')

  it('asks in the role of the chain and answers the text', async () => {
    const seen: unknown[] = []
    const tool = searching(async (query, options) => {
      seen.push(query, options?.role)
      return 'found'
    })
    expect(await tool.run({ query: ' price ' }, signal)).toBe('found')
    expect(seen).toEqual(['price', 'main'])
  })

  it('tells the model not to try again when it cannot search or found nothing', async () => {
    expect(await searching(async () => null).run({ query: 'x' }, signal)).toMatch(/search failed.*go on without/i)
    expect(await searching(async () => ' ').run({ query: 'x' }, signal)).toMatch(/found nothing.*do not repeat/i)
    const failing = searching(() =>
      Promise.reject(new PlatformError('InferenceCallAPIError', 502, 'Inference call failed')),
    )
    expect(await failing.run({ query: 'x' }, signal)).toMatch(/search failed/)
  })

  it('does not hide the end of the run', async () => {
    await expect(searching(() => Promise.reject(new Error('aborted'))).run({ query: 'x' }, signal)).rejects.toThrow(
      'aborted',
    )
  })
})
