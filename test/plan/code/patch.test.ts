import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parseDiff, textBefore } from '../../../src/plan/code/patch.ts'
import { temporaryFolder } from '../../helpers/folder.ts'

const run = promisify(execFile)

const folder = temporaryFolder()

type Files = Record<string, string>

/** Makes git's diff, as the pipeline requests it, for two states of a repository. */
async function diffOf(before: Files, after: Files): Promise<string> {
  const cwd = await mkdtemp(join(folder, 'repository-'))
  const git = async (...args: string[]) =>
    (await run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'core.autocrlf=false', ...args], { cwd }))
      .stdout
  const put = async (files: Files) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(cwd, path)), { recursive: true })
      await writeFile(join(cwd, path), text)
    }
    await git('add', '-A')
  }
  await git('init', '--quiet')
  await put(before)
  await git('commit', '--quiet', '--allow-empty', '-m', 'before')
  for (const path of Object.keys(before)) if (!(path in after)) await rm(join(cwd, path))
  await put(after)
  return await git('diff', '--cached', '--find-renames', '--no-prefix', '--relative', 'HEAD')
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('')

describe('a diff of git', () => {
  const cases: [string, Files, Files][] = [
    [
      'changes in two places',
      { 'a.tf': lines(1, 60) },
      { 'a.tf': lines(1, 60).replace('line 3\n', '').replace('line 50\n', 'x\ny\n') },
    ],
    ['text before the first line', { 'a.tf': lines(1, 3) }, { 'a.tf': `zero\n${lines(1, 3)}` }],
    ['an emptied file', { 'a.tf': lines(1, 3) }, { 'a.tf': '' }],
    ['a removed file', { 'a.tf': lines(1, 3), 'b.tf': 'b\n' }, { 'b.tf': 'b\n' }],
    ['a renamed and changed file', { 'a.tf': lines(1, 30) }, { 'c d.tf': lines(1, 30).replace('line 7\n', 'seven\n') }],
    ['a renamed file', { 'a.tf': lines(1, 30) }, { 'modules/x/a.tf': lines(1, 30) }],
    ['no line break at the end', { 'a.tf': 'one\ntwo' }, { 'a.tf': 'one\nthree' }],
    ['carriage returns', { 'a.tf': 'one\r\ntwo\r\n' }, { 'a.tf': 'one\r\nthree\r\n' }],
    [
      'lines that look like a diff',
      { 'a.tf': '-- x\n++ y\n' },
      { 'a.tf': '-- x\n++ z\ndiff --git a b\n@@ -1 +1 @@\n' },
    ],
    ['a new file', {}, { 'a.tf': 'one\n' }],
    ['a name of control characters', { 'a\tb\nc\rd\\e.tf': 'one\n' }, { 'a\tb\nc\rd\\e.tf': 'two\n' }],
    ['an unusual name', { 'grün "x".tf': 'one\n' }, { 'grün "x".tf': 'two\n' }],
  ]
  it.each(cases)('tells what a file was before: %s', async (_, before, after) => {
    const patches = parseDiff(await diffOf(before, after))
    expect(patches).toHaveLength(1)
    const [patch] = patches
    const was = patch && textBefore(patch, patch.to === null ? '' : (after[patch.to] ?? 'none'))
    expect(was?.trimEnd()).toBe((before[patch?.from ?? ''] ?? '').trimEnd())
  })

  it('leaves out a hunk that was cut', async () => {
    const diff = await diffOf({ 'a.tf': lines(1, 9) }, { 'a.tf': lines(4, 9) })
    const cut = diff.split('\n').slice(0, -4).join('\n')
    expect(parseDiff(`${cut}\n(cut: the diff is too long)\n`)[0]?.hunks).toEqual([])
  })
})
