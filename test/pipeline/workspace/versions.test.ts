import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { startSite } from './support.ts'

const site = startOnce(startSite)

const LONG = Array.from({ length: 60 }, (_, index) => `line ${index}\n`).join('')
const MIB = 1024 * 1024

const opened = (files: Parameters<typeof site.add>[0], root_path: string | null = null) =>
  site.start({ root_path }, files)

const same = (path: string, before: string, after: string) => ({ from: path, to: path, before, after, unread: null })
const added = (to: string, after: string) => ({ from: null, to, before: null, after, unread: null })
const removed = (from: string, before: string) => ({ from, to: null, before, after: null, unread: null })
const unread = (path: string, reason: string) => ({ ...same(path, '', ''), before: null, after: null, unread: reason })

describe('the versions of changed files', () => {
  it('are whole texts below the engine root, whatever was committed since', async () => {
    const files = { 'infra/main.tf': 'one\n', 'infra/old.tf': 'gone\n', 'infra/kept.tf': 'kept\n', 'other.tf': 'x' }
    const { workspace, at } = await opened(files, 'infra')
    expect(await workspace.versions()).toEqual([])
    await writeFile(at('main.tf'), 'two\n')
    await writeFile(at('committed.tf'), 'fresh\n')
    await rm(at('old.tf'))
    await writeFile(at('../other.tf'), 'outside of the root\n')
    await workspace.commitAndPush()
    await writeFile(at('main.tf'), 'three\n')
    await mkdir(at('net'))
    await writeFile(at('net/new.tf'), 'pending\n')
    expect(await workspace.versions()).toEqual([
      added('committed.tf', 'fresh\n'),
      same('main.tf', 'one\n', 'three\n'),
      removed('old.tf', 'gone\n'),
      added('net/new.tf', 'pending\n'),
    ])
    // The run began with the clone, before its commit.
    expect(await workspace.versions('run')).toEqual(await workspace.versions())
    await writeFile(at('main.tf'), 'one\n')
    await rm(at('committed.tf'))
    await writeFile(at('old.tf'), 'gone\n')
    await rm(at('net'), { recursive: true })
    expect(await workspace.versions()).toEqual([])
  })

  it('are those of a renamed file under both names', async () => {
    const { workspace, at } = await opened({ 'a.tf': LONG })
    await mkdir(at('net'))
    await rename(at('a.tf'), at('net/b c.tf'))
    await writeFile(at('net/b c.tf'), LONG.replace('line 7', 'seven'))
    await workspace.commitAndPush()
    const after = LONG.replace('line 7', 'seven')
    expect(await workspace.versions()).toEqual([{ ...same('a.tf', LONG, after), to: 'net/b c.tf' }])
  })

  it('keep every character, in files of any name', async () => {
    const texts: [string, string, string][] = [
      ['blanks.tf', 'a b', 'a  b'],
      ['crlf.tf', 'a\nb\n', 'a\r\nb\n'],
      ['diff.tf', 'x\n-- a\n++ b\n', 'diff --git a b\n@@ -1 +1 @@\n--- a\n+++ b\n'],
      ['empty.tf', '', 'x'],
      ['grün "x"\ty.tf', 'ä', '€'],
      ['*.tf', 'x', 'y'],
    ]
    const { workspace, at } = await opened(Object.fromEntries(texts.map(([path, before]) => [path, before])))
    for (const [path, , after] of texts) await writeFile(at(path), after)
    const found = await workspace.versions()
    expect(
      found.toSorted((a, b) => texts.findIndex(([path]) => path === a.to) - texts.findIndex(([path]) => path === b.to)),
    ).toEqual(texts.map((text) => same(...text)))
  })

  it('say of what was not read why, and hold what is more than a diff may', async () => {
    const large = 'x = 1\n'.repeat((5 * MIB) / 6)
    const files = { 'large.tf': large, 'small.tf': 'one\n', 'now-large.tf': 'x', 'link.tf': 'x', 'binary.tf': 'x\0y' }
    const { workspace, at } = await opened({
      ...files,
      'a.tf': large.slice(0, 3 * MIB),
      'b.tf': large.slice(0, 3 * MIB),
    })
    await writeFile(at('large.tf'), 'small now\n')
    await writeFile(at('now-large.tf'), large)
    await rm(at('link.tf'))
    await symlink('/etc/passwd', at('link.tf'))
    await writeFile(at('binary.tf'), 'text\n')
    await writeFile(at('latin.tf'), Buffer.from([0xe4]))
    for (const name of ['a.tf', 'b.tf']) await writeFile(at(name), 'short\n')
    await writeFile(at('small.tf'), 'two\n')
    const [a, b, binary, large_, link, now, small, latin] = await workspace.versions()
    for (const one of [a, b]) expect([one?.before?.length, one?.after]).toEqual([3 * MIB, 'short\n'])
    expect([binary, large_, link, now, small, latin]).toEqual([
      unread('binary.tf', 'no text'),
      unread('large.tf', 'too large'),
      unread('link.tf', 'no regular file'),
      unread('now-large.tf', 'too large'),
      same('small.tf', 'one\n', 'two\n'),
      { ...unread('latin.tf', 'no text'), from: null },
    ])
  })

  it('are read of hundreds of files at once', async () => {
    const many = (text: string) => Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`m${at}/main.tf`, text]))
    const { workspace, at } = await opened({ ...many('one\n'), 'z.tf': 'one\n' })
    for (const path of Object.keys(many(''))) await writeFile(at(path), 'two\n')
    const found = await workspace.versions()
    expect(found).toHaveLength(900)
    expect(new Set(found.map(({ before, after }) => `${before}${after}`))).toEqual(new Set(['one\ntwo\n']))
  })
})
