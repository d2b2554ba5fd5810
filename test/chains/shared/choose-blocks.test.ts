import { expect, it } from 'vitest'
import { chooseBlocks } from '../../../src/chains/shared/choose-blocks.ts'

const MAIN = `resource "terraform_data" "network" {
  input = { name = local.prefix, size = var.size }
}

resource "terraform_data" "storefront" {
  input = { name = "storefront", network = terraform_data.network.id }
}

resource "terraform_data" "payments" {
  input = { name = "payments" }
}

resource "aws_sqs_queue" "mails" {
  name = "mails"
}

resource "aws_sqs_queue" "bills" {
  name = "bills"
}

module "search" {
  source = "./modules/search"
  shards = 3
}

output "network" {
  value = terraform_data.network.id
}
`
const FILES = {
  'main.tf': MAIN,
  'locals.tf': 'locals {\n  prefix = "shop"\n  other  = "unused"\n}\n',
  'variables.tf':
    'variable "size" {\n  type = number\n}\n\nvariable "zone" {\n  type    = string\n  default = "b"\n}\n',
  'terraform.tfvars': 'size = 4\nzone = "a"\n',
  'staging.tfvars': 'size = 2\n',
  'modules/search/main.tf': 'resource "terraform_data" "index" {\n  input = { shards = var.shards }\n}\n',
}

const choose = (about: string, files: Record<string, string> = FILES, maxLength = 6_000) =>
  chooseBlocks(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    about,
    maxLength,
  )

it('shows the blocks of the request with what they refer to', () => {
  const text = choose('Make the storefront bigger.')
  expect(text).toBe(`--- of main.tf ---
resource "terraform_data" "network" {
  input = { name = local.prefix, size = var.size }
}
resource "terraform_data" "storefront" {
  input = { name = "storefront", network = terraform_data.network.id }
}
resource "aws_sqs_queue" "mails" {
  name = "mails"
}`)
})

it('follows values to what they are made of, and to what the engine loads for them', () => {
  const text = choose('Rename the network.') ?? ''
  expect(text).toContain('--- of locals.tf ---\nlocals {\n  prefix = "shop"\n}')
  expect(text).toContain('variable "size" {}')
  expect(text).toContain('--- of terraform.tfvars ---\nsize = 4')
  expect(text).not.toMatch(/unused|staging/)
})

it('leads from a value to what uses it, and from a call to what its module makes', () => {
  expect(choose('The prefix becomes store.')).toContain('terraform_data" "network"')
  const text = choose('Search gets five shards.') ?? ''
  expect(text).toContain('shards = 3')
  expect(text).toContain('--- of modules/search/main.tf ---\nresource "terraform_data" "index"')
})

it('shows of a variable its default', () => {
  expect(choose('Another zone, please.')).toContain(
    '--- of variables.tf ---\nvariable "zone" {\n  default = "b"\n}\n\n--- of terraform.tfvars ---\nzone = "a"',
  )
})

it('shows one resource of each type that the request does not lead to', () => {
  const text = choose('Remove the bills.') ?? ''
  expect(text).toContain('"aws_sqs_queue" "bills"')
  expect(text).not.toContain('"aws_sqs_queue" "mails"')
  expect(text.match(/resource "terraform_data"/g)).toHaveLength(1)
})

it('leaves out what does not fit, the farthest first', () => {
  const text = choose('Make the storefront bigger.', FILES, 130) ?? ''
  expect(text).toContain('"storefront"')
  expect(text).not.toContain('"mails"')
})

it.each([
  ['no word of the request is in the code', '全部', FILES],
  ['code is not in the native syntax', 'storefront', { ...FILES, 'more.tf.json': '{}' }],
  ['a file has errors', 'storefront', { ...FILES, 'more.tf': 'resource "a" {' }],
])('chooses nothing when %s', (_, about, files) => {
  expect(choose(about, files)).toBeNull()
})
