import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseSeeds, SeedError } from '../../src/prompts/parse-seed.ts'
import { readSeedPrompts } from '../../src/runtime/prompts.ts'
import { temporaryFolder } from '../helpers/folder.ts'

const seed = (path: string, text = 'body: hello') => ({ path, text })
function problemsOf(...files: { path: string; text: string }[]): readonly string[] {
  try {
    parseSeeds(files)
  } catch (error) {
    if (error instanceof SeedError) return error.message.split('\n')
    throw error
  }
  return []
}

describe('seed files', () => {
  test('become prompts by qualified name; other keys are ignored', () => {
    const prompts = parseSeeds([
      seed('aws/resources/s3_bucket.yaml', 'description: Buckets\nbody: |\n  one\n  two\nauthor: x'),
      seed('general/compliance/report.yaml'),
    ])
    expect([...prompts]).toEqual([
      ['aws-resources-s3_bucket', { body: 'one\ntwo\n', description: 'Buckets' }],
      ['general-compliance-report', { body: 'hello', description: '' }],
    ])
  })

  test.each([
    ['aws/resources/S3.yaml', "Invalid prompt name 'S3' in aws/resources/S3.yaml; must match ^[a-z0-9_]+$"],
    ['aws/resources/a-b.yaml', "Invalid prompt name 'a-b' in aws/resources/a-b.yaml; must match ^[a-z0-9_]+$"],
    [
      'aws/resources/_a.yaml',
      "Invalid prompt name '_a' in aws/resources/_a.yaml; must match ^[a-z0-9_]+$ and not start with _",
    ],
    ['aws/resources/.yaml', "Invalid prompt name '' in aws/resources/.yaml; must match ^[a-z0-9_]+$"],
    [
      'aws/other/a.yaml',
      "Invalid prompt type 'other' in aws/other/a.yaml; must be one of guidelines, resources, compliance",
    ],
    [
      'ibm/resources/a.yaml',
      "Invalid prompt scope 'ibm' in ibm/resources/a.yaml; must be one of general, azure, gcp, aws, oci, kubernetes",
    ],
    ['aws/a.yaml', 'Invalid prompt path aws/a.yaml; must be <scope>/<type>/<name>.yaml'],
    ['aws/resources/deep/a.yaml', 'Invalid prompt path aws/resources/deep/a.yaml; must be <scope>/<type>/<name>.yaml'],
  ])('%s is refused', (path, text) => {
    expect(problemsOf(seed(path))).toEqual([text])
  })

  test.each([
    ['broken YAML', 'body: [', 'it is not valid YAML'],
    ['no body', 'description: x', 'it needs a non-empty string body'],
    ['empty body', 'body: ""', 'it needs a non-empty string body'],
    ['blank body', 'body: "  "', 'it needs a non-empty string body'],
    ['a number as body', 'body: 5', 'it needs a non-empty string body'],
    ['a list as description', 'body: x\ndescription: [a]', 'it needs a non-empty string body'],
    ['a list', '- body', 'it needs a non-empty string body'],
    ['nothing', '', 'it needs a non-empty string body'],
  ])('%s is refused', (_name, text, problem) => {
    expect(problemsOf(seed('aws/resources/a.yaml', text))).toEqual([
      expect.stringContaining(`Invalid prompt file aws/resources/a.yaml; ${problem}`),
    ])
  })

  test('all problems are reported together, duplicates among them', () => {
    expect(problemsOf(seed('aws/resources/a.yaml'), seed('aws/resources/a.yaml'), seed('x/y/z.yaml'))).toEqual([
      "Duplicate qualified name 'aws-resources-a' in aws/resources/a.yaml",
      expect.stringContaining("Invalid prompt scope 'x'"),
    ])
  })
})

describe('a seed folder', () => {
  const parent = temporaryFolder()
  const folder = async (files: Record<string, string>) => {
    const root = await mkdtemp(join(parent, 'seed-'))
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    }
    return root
  }

  test('is read in the order of the paths, YAML files only', async () => {
    const root = await folder({
      'gcp/resources/b.yaml': 'body: b',
      'aws/resources/a.yaml': 'body: a',
      'aws/resources/notes.md': 'not a prompt',
      'README.yml': 'not a prompt',
    })
    expect([...(await readSeedPrompts(root)).keys()]).toEqual(['aws-resources-a', 'gcp-resources-b'])
  })

  test('with a file at the wrong depth is refused', async () => {
    const root = await folder({ 'stray.yaml': 'body: a' })
    await expect(readSeedPrompts(root)).rejects.toThrow(
      'Invalid prompt path stray.yaml; must be <scope>/<type>/<name>.yaml',
    )
  })

  test('that is missing is an error', async () => {
    await expect(readSeedPrompts('/nonexistent/seed')).rejects.toThrow()
  })
})
