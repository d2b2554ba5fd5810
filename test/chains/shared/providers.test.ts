import { describe, expect, it } from 'vitest'
import type { Cloud } from '../../../src/base/vocabulary.ts'
import {
  fittingAbbreviations,
  fittingTemplates,
  providersInPlay,
  templateNames,
} from '../../../src/chains/shared/catalogue.ts'
import { declaredBlocksIn } from '../../../src/chains/shared/declared-blocks.ts'

const TEMPLATES = ['s3_bucket', 'sqs_queue', 'iam_role', 'load_balancer']
const inPlay = (files: Record<string, string | null>, request = 'Add a queue', cloud: Cloud = 'aws') =>
  [
    ...providersInPlay({
      cloud,
      request,
      templates: TEMPLATES,
      files: Object.entries(files).map(([path, text]) => ({
        path,
        text,
        bytes: 1,
        blocks: text === null ? [] : declaredBlocksIn(path, text),
      })),
    }),
  ].sort()

const BUILT_IN = 'resource "terraform_data" "x" {}\n'

describe('the providers in play', () => {
  it.each<[string, Record<string, string>, string[]]>([
    ['types of resources', { 'a.tf': 'resource "google_storage_bucket" "x" {}\n' }, ['google']],
    ['types of data', { 'a.tf': 'data "azurerm_subnet" "x" {}\n' }, ['azurerm']],
    ['provider blocks', { 'a.tf': 'provider "google-beta" {\n}\n' }, ['google']],
    [
      'required providers',
      {
        'a.tf':
          'terraform {\n  required_version = ">= 1"\n  required_providers {\n' +
          '    cloud = {\n      source  = "hashicorp/azurerm"\n' +
          '      version = "~> 4"\n    }\n    random = "~> 3"\n    tls = { source = "hashicorp/tls" }\n  }\n' +
          '  backend "s3" {\n  }\n}\n',
      },
      ['azurerm', 'cloud', 'random', 'tls'],
    ],
    [
      'sources of modules',
      { 'a.tf': 'module "v" {\n  source  = "terraform-google-modules/network/google"\n}\n' },
      ['google'],
    ],
    [
      'the JSON syntax',
      {
        'a.tf.json': JSON.stringify({
          resource: { random_id: { x: {} } },
          provider: { oci: {} },
          terraform: { required_providers: { tls: { source: 'hashicorp/tls' } } },
          module: { m: { source: 'a/b/helm' } },
        }),
      },
      ['helm', 'oci', 'random', 'tls'],
    ],
  ])('are read from %s', (_, files, expected) => {
    expect(inPlay(files)).toEqual(expected)
  })

  it.each<[string, Record<string, string | null>]>([
    ['there is no code', { 'README.md': 'x' }],
    ['code names none', { 'a.tf': 'variable "x" {}\n' }],
    ['only another state is read', { 'a.tf': 'data "terraform_remote_state" "x" {}\n' }],
    [
      'a module comes from elsewhere',
      { 'a.tf': `${BUILT_IN}module "m" {\n  source = "git::https://a.test/b.git"\n}\n` },
    ],
    ['a module is outside of the root', { 'a.tf': `${BUILT_IN}module "m" {\n  source = "../m"\n}\n` }],
    ['a file was not read', { 'a.tf': BUILT_IN, 'b.tf': null }],
  ])('hold those of the cloud where %s', (_, files) => {
    expect(inPlay(files)).toContain('aws')
    expect(inPlay(files)).not.toContain('azurerm')
  })

  it.each([
    ['Add an aws_s3_bucket', true],
    ['Put it on AWS', true],
    ['Eine S3-Ablage für Protokolle', true],
    ['Use SQS for it', true],
    ['Add a work queue, a role and a load balancer for the payments service', false],
    ['Dodaj kolejkę', false],
    ['awsome iamb', false],
  ])('beside code of another provider, the request "%s" names the cloud: %s', (request, expected) => {
    const files = { 'a.tf': `${BUILT_IN}module "m" {\n  source = "./m"\n}\n`, 'm/a.tf': BUILT_IN }
    expect(inPlay(files, request).includes('aws')).toBe(expected)
  })

  it('hold another cloud that the request names, beside that of the code', () => {
    expect(inPlay({ 'a.tf': 'resource "aws_vpc" "x" {}\n' }, 'Add a google_pubsub_topic')).toEqual(['aws', 'google'])
  })
})

const LIST = [
  '# Templates',
  '',
  'Choose well.',
  '- `s3_bucket`: object storage',
  '  with all that belongs to it',
  '- `azure_store`: an `azurerm_storage_account`',
  '* Our own landing zone',
  '',
  'The end.',
].join('\n')

describe('a catalogue of templates', () => {
  it('keeps the entries of providers in play, what is no entry, and what tells no provider', () => {
    expect(fittingTemplates(LIST, 'aws', new Set(['aws']))).toEqual({
      text: LIST.replace('- `azure_store`: an `azurerm_storage_account`\n', ''),
      names: ['s3_bucket', null],
      wasEmptied: false,
    })
    expect(fittingTemplates(LIST, 'aws', new Set(['terraform'])).text).toBe(
      '# Templates\n\nChoose well.\n* Our own landing zone\n\nThe end.',
    )
  })

  it('is emptied when none of its entries is in play', () => {
    const known = '- `s3_bucket`: object storage\n- `sqs_queue`: queues\n'
    expect(fittingTemplates(known, 'aws', new Set(['terraform']))).toEqual({ text: '', names: [], wasEmptied: true })
  })

  it.each([
    ['prose', 'Ask the platform team for templates.'],
    ['a table', '| Template | Use |\n|---|---|\n| bucket | storage |'],
    ['nothing', ''],
    ['rules', '---\n**Bold**\n---'],
  ])('of another form stays as it is: %s', (_, list) => {
    expect(fittingTemplates(list, 'aws', new Set(['terraform']))).toMatchObject({ text: list, wasEmptied: false })
  })

  it('names its entries', () => {
    expect(templateNames(LIST)).toEqual(['s3_bucket', 'azure_store'])
    expect(templateNames('1. `a`: x\n2. `b`: y\n| `c` | z |')).toEqual(['a', 'b', 'c'])
  })
})

it('leaves out abbreviations of providers that are not in play', () => {
  const list = '# Names\n\nForm: `<a>-<b>`.\n\n- aws_vpc: vpc\n- azurerm_subnet: snet\n- project: prj'
  expect(fittingAbbreviations(list, new Set(['azurerm']))).toEqual({
    text: '# Names\n\nForm: `<a>-<b>`.\n\n- azurerm_subnet: snet\n- project: prj',
    names: ['azurerm_subnet: snet', null],
    wasEmptied: false,
  })
})
