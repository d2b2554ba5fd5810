import { chmodSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startTestService, type TestService, temporaryFolder } from '../service.ts'

const service = await startTestService()

const LOOSE = 'variable "days" {\n type=number\n      default = 7\n}\n'
const FORMATTED = 'variable "days" {\n  type    = number\n  default = 7\n}\n'
const format = async (on: TestService, texts: object[], workspace_path?: string) =>
  on.run('/v1/fmt', { workspace_path: workspace_path ?? (await on.workspace()), texts })
const textsOf = (job: { result: { stdout: string } }): string[] => JSON.parse(job.result.stdout).texts

describe('fmt', () => {
  it('formats all texts with one engine process, in their order', async () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ form: 'tfvars', text: `days   =${index}\n` }))
    const job = await format(service, [{ form: 'tf', text: LOOSE }, ...many])
    expect(job).toMatchObject({ kind: 'fmt', status: 'succeeded', result: { exit_code: 0, stderr: '' } })
    expect(textsOf(job)).toEqual([FORMATTED, ...many.map((_, index) => `days = ${index}\n`)])
    expect(service.log.filter((line) => line.includes('texts formatted'))).toHaveLength(1)
  })

  it('leaves a text with a syntax error as it is, and formats the others', async () => {
    const broken = 'resource "terraform_data" {{\n   x=1\n'
    expect(
      textsOf(
        await format(service, [
          { form: 'tf', text: broken },
          { form: 'tf', text: LOOSE },
        ]),
      ),
    ).toEqual([broken, FORMATTED])
  })

  it('keeps empty texts, other alphabets and what is formatted already', async () => {
    const texts = ['', '# Größe 😀\n', FORMATTED].map((text) => ({ form: 'tf', text }))
    expect(textsOf(await format(service, texts))).toEqual(texts.map(({ text }) => text))
  })

  it('neither reads nor writes the workspace, and leaves nothing behind', async () => {
    const workspace = await service.workspace({ 'main.tf': LOOSE, '0.tf': LOOSE })
    await format(service, [{ form: 'tf', text: LOOSE }], workspace)
    expect(await readdir(workspace)).toEqual(['0.tf', 'main.tf'])
    expect(await readFile(join(workspace, '0.tf'), 'utf8')).toBe(LOOSE)
    expect(await readdir(join(service.folder, 'data', 'format'))).toEqual([])
  })

  it('answers what an engine that cannot format says', async () => {
    const engine = join(await temporaryFolder(), 'engine')
    await writeFile(engine, '#!/bin/sh\n[ "$1" = version ] && echo "Fake v9.8.7" && exit\necho "no fmt" >&2; exit 1\n')
    chmodSync(engine, 0o755)
    const other = await startTestService({ IAC_BINARY: engine })
    expect(await format(other, [{ form: 'tf', text: LOOSE }])).toMatchObject({
      result: { exit_code: 1, stdout: '', stderr: 'no fmt\n' },
    })
    expect(await readdir(join(other.folder, 'data', 'format'))).toEqual([])
  })

  it.each([
    ['a path beside a text', { texts: [{ form: 'tf', text: '', path: '../main.tf' }] }],
    ['the names of files', { files: ['-recursive'] }],
    ['another form', { texts: [{ form: 'tf.json', text: '' }] }],
    ['an option as form', { texts: [{ form: '/../../x', text: '' }] }],
    ['no text', { texts: [] }],
    ['too many texts', { texts: Array.from({ length: 257 }, () => ({ form: 'tf', text: '' })) }],
    ['a text that is too long', { texts: [{ form: 'tf', text: 'x'.repeat(1_000_001) }] }],
    ['half a character', { texts: [{ form: 'tf', text: '\ud800' }] }],
  ])('refuses %s', async (_, body) => {
    const workspace_path = await service.workspace()
    expect((await service.request('POST', '/v1/fmt', { json: { workspace_path, ...body } })).status).toBe(422)
  })

  it('refuses a body that is larger than 8 MiB', async () => {
    const texts = Array.from({ length: 10 }, () => ({ form: 'tf', text: 'x'.repeat(900_000) }))
    const answer = await service.request('POST', '/v1/fmt', { json: { workspace_path: '/tmp', texts } })
    expect(answer.status).toBe(413)
  })
})
