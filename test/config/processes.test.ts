import { expect, test } from 'vitest'
import { maskedConfig, secretsOf } from '../../config/mask.ts'
import { at, load, problemsOf } from './support.ts'

const KEY = 'MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE='

test('saved plans stay on the disk without a key', async () => {
  expect((await load('')).worker.pin_key).toBe('')
  expect((await load('worker: {pin_key_env: ""}', { PLATFORM_PIN_KEY: KEY })).worker.pin_key).toBe('')
  expect((await load('', { PLATFORM_PIN_KEY: '  ' })).worker.pin_key).toBe('')
})

test('the key comes from the variable that the file names, and is a secret', async () => {
  const config = await load('worker: {pin_key_env: MY_KEY}', { MY_KEY: KEY })
  expect(config.worker.pin_key).toBe(KEY)
  expect(secretsOf(config)).toContain(KEY)
  expect(at(maskedConfig(config), 'worker.pin_key')).toBe('***')
})

test('a short key is refused, without repeating it', async () => {
  expect(await problemsOf('', { PLATFORM_PIN_KEY: 'hunter2-hunter2' })).toEqual([
    'worker.pin_key_env: PLATFORM_PIN_KEY must hold at least 32 characters, for example 32 random bytes in base64.',
  ])
})

test.each([
  ['/data/work', '/data/git'],
  ['/data/work', '/data/work-git'],
  ['/data/work/', ''],
])('clones in %s with git directories in "%s"', async (upload_folder, git_folder) => {
  const { paths } = await load(JSON.stringify({ paths: { upload_folder, git_folder } }))
  expect(paths.git_folder).toBe(git_folder)
})

test.each([
  ['/data/work', '/data/work/git'],
  ['/data/work/', '/data/work/'],
  ['/data/work', '/data/work'],
])('clones in %s, but never git directories in "%s", which the engine can write', async (upload_folder, git_folder) => {
  await expect(load(JSON.stringify({ paths: { upload_folder, git_folder } }))).rejects.toThrow(
    'paths.git_folder must not be inside of paths.upload_folder',
  )
})
