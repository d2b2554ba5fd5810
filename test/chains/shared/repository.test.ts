import { describe, expect, it } from 'vitest'
import { estimateTokens } from '../../../src/agent/context-budget.ts'
import { readDeclaredBlocks } from '../../../src/chains/shared/declared-blocks.ts'
import {
  chooseFiles,
  describeChosen,
  describeFiles,
  type RepositoryFile,
} from '../../../src/chains/shared/repository.ts'

const budget = (tokens: number) => ({ tokens, estimate: (text: string) => estimateTokens(text, 3) })
const file = (path: string, text: string | null = null): RepositoryFile => ({
  path,
  bytes: text?.length ?? 2_048,
  text,
  blocks: text === null ? [] : readDeclaredBlocks(text),
})

describe('readDeclaredBlocks', () => {
  it('names what a file declares at its top level', () => {
    const text = [
      'locals {',
      '  name_prefix = "x"',
      '  nested = {',
      '    inner = 1',
      '  }',
      '}',
      'resource "aws_s3_bucket" "logs" {',
      '  dynamic "rule" {',
      '  }',
      '}',
      'data "aws_vpc" "main" {}',
      'module "network" {',
      'variable "owner" { default = "a" }',
      'output "id" {',
      '# resource "aws_x" "commented" {',
      'terraform {',
    ].join('\n')
    expect(readDeclaredBlocks(text)).toEqual([
      'local name_prefix',
      'local nested',
      'resource aws_s3_bucket.logs',
      'data aws_vpc.main',
      'module network',
      'variable owner',
      'output id',
    ])
  })

  it('reads no blocks out of rubbish', () => {
    expect(readDeclaredBlocks('locals {')).toEqual([])
    expect(readDeclaredBlocks('resource "a\n" "b" {'.repeat(1_000))).toEqual([])
  })
})

describe('describeFiles', () => {
  const files = [
    file('README.md'),
    file('modules/a/main.tf', 'variable "x" {}'),
    file('main.tf', 'resource "a_b" "c" {}'),
  ]

  it('shows code first, then what is close to the root', () => {
    expect(describeFiles(files, budget(1_000))).toBe(
      'main.tf (21 B): resource a_b.c\nmodules/a/main.tf (15 B): variable x\nREADME.md (2.0 kB)',
    )
  })

  it('counts what does not fit', () => {
    expect(describeFiles(files, budget(14))).toBe('main.tf (21 B): resource a_b.c\n[… 2 more files left out …]')
  })

  it('keeps a file to its line', () => {
    expect(describeFiles([file('a\n\u0000b.tf')], budget(1_000))).toBe('a b.tf (2.0 kB)')
  })
})

it('takes many blocks that never close in reasonable steps', () => {
  expect(readDeclaredBlocks(`${'locals {\n'.repeat(100_000)}resource "a" "b" {`)).toEqual(['resource a.b'])
})

describe('chooseFiles', () => {
  const files = [
    file('orders-queue.tf', 'resource "aws_sqs_queue" "orders" {}'),
    file('network.tf', 'resource "aws_vpc" "main" {}'),
    file('payments.tf', 'resource "aws_sqs_queue" "payments" {}'),
    file('orders.tfvars'),
  ]
  const paths = (request: string, tokens = 1_000, changed: string[] = []) => {
    const { chosen, leftOut } = chooseFiles(files, request, new Set(changed), budget(tokens))
    return [chosen.map(({ path }) => path), leftOut]
  }

  it('takes files that share words with the request, rare words first', () => {
    expect(paths('Add a queue for the orders')).toEqual([['orders-queue.tf', 'payments.tf'], []])
    expect(paths('Make it cheaper')).toEqual([[], []])
  })

  it('takes what the session changed', () => {
    expect(paths('Make it cheaper', 1_000, ['network.tf'])).toEqual([['network.tf'], []])
  })

  it('leaves out what does not fit, whole, and names it', () => {
    expect(paths('Add a queue for the orders', 28)).toEqual([['orders-queue.tf'], ['payments.tf']])
    const chosen = chooseFiles(files, 'Add a queue for the orders', new Set(), budget(28))
    expect(describeChosen(chosen)).toBe(
      '--- orders-queue.tf ---\nresource "aws_sqs_queue" "orders" {}\n\n[… left out for lack of room: payments.tf …]',
    )
    expect(describeChosen({ chosen: [], leftOut: ['x'] })).toBe('')
  })
})
