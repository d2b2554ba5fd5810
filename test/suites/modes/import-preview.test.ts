import { describe, expect, it } from 'vitest'
import { modes } from '../../../pipeline/modes/index.ts'
import { openLedger } from '../../../pipeline/steps/import/ledger.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { createSteps, type StepWorld } from '../../pipeline/steps/support.ts'
import { type Given, prepare, QUERY, reportOf } from './import-engine.ts'
import { addresses } from './import-world.ts'
import { SPLIT } from './scripts.ts'

const steps = startOnce(createSteps)

const listOf = ({ objects }: StepWorld) => {
  const [entry] = [...objects].filter(([key]) => key.startsWith('previews/import-'))
  return entry ? JSON.parse(entry[1].body) : null
}

async function look(given: Given) {
  const { world } = await prepare(steps, given)
  world.run.round.preview = true
  const outcome = await modes.import.handle(world.run)
  return { world, outcome, list: listOf(world), report: reportOf(world) }
}

/** Imports a choice from a preview. */
async function choose(resource_ids: string[], given: Given) {
  const { world, engine } = await prepare(steps, given)
  world.run.round.resource_ids = resource_ids
  const outcome = await modes.import.handle(world.run)
  return { world, engine, outcome, report: reportOf(world) }
}

describe('an import preview', () => {
  it('says what is left out and why, and asks no model', async () => {
    const { world, outcome, list, report } = await look({
      partial: true,
      scope: ['id-a', '-option', 'id-audit', 'id-managed'],
      state: ['id-managed', 'id-elsewhere'],
      exceptions: '- `id-audit` owned by audit',
    })
    expect(outcome).toEqual({ status: 'completed' })
    const leftOut = [
      { resource_id: '-option', reason: 'Cannot be given to the engine as an identifier.' },
      { resource_id: 'id-audit', reason: 'On the import exception list.' },
    ]
    expect(list).toMatchObject({
      request: QUERY,
      counts: { managed: 1, unmanaged: 1, left_out: 2 },
      managed: [{ resource_id: 'id-managed' }],
      unmanaged: [{ resource_id: 'id-a' }],
      left_out: leftOut,
    })
    expect(report).toMatchObject({
      summary: { selected: 0, imported: 0, failed: 0 },
      status: 'Succeeded',
      excluded_resources: leftOut.map(({ resource_id, reason }) => ({ resource_id, details: reason })),
    })
    expect(world.llm.requests).toEqual([])
    expect(world.jobs.map(({ kind }) => kind)).toEqual(['init', 'state_resource_ids', 'scope_resource_ids'])
    expect(world.workspace.commits).toBe(0)
    expect(world.run.conversation).toEqual([])
  })

  it.each([
    ['an empty scope', { scope: [] }, { managed: 0, unmanaged: 0, left_out: 0 }],
    ['a scope that is all managed', { scope: ['id-a'], state: ['id-a'] }, { managed: 1, unmanaged: 0, left_out: 0 }],
  ])('lists %s', async (_, given, counts) => {
    const { outcome, list, report } = await look(given)
    expect([outcome.status, list.counts, report.status]).toEqual(['completed', counts, 'Succeeded'])
  })

  it('masks what is known to be secret in everything that is kept', async () => {
    const secret = 'key-of-the-model-provider'
    const { world, list } = await look({ scope: [`id-${secret}`, 'id-a'], state: [], exceptions: `- id-${secret}-x` })
    expect(list.unmanaged.map(({ resource_id }: { resource_id: string }) => resource_id)).toEqual(['id-a'])
    expect(list.left_out).toHaveLength(1)
    const rows = await steps.database.sql`SELECT resource_ids FROM previews WHERE round_id = ${world.run.round.id}`
    expect(rows).toMatchObject([{ resource_ids: ['id-a'] }])
    const kept = JSON.stringify([[...world.objects], await world.statuses(), rows])
    expect(kept).not.toContain(secret)
    expect(kept).toContain('(sensitive value)')
  })

  it('fails when the scope cannot be listed, in masked words', async () => {
    const refused = { exit_code: 1, stderr: 'AccessDenied for key-of-the-model-provider' }
    await expect(look({ scope: refused })).rejects.toMatchObject({
      code: 'ScopeNotListed',
      message: expect.stringMatching(/^The scope acme-test could not be listed.*AccessDenied for \(sensitive value\)/s),
    })
  })
})

describe('an import of what was chosen', () => {
  it('asks the selection for nothing and imports exactly that, also in a partial round', async () => {
    const { world, engine, outcome, report } = await choose(['id-b'], {
      partial: true,
      scope: ['id-a', 'id-b', 'id-audit'],
      exceptions: '- id-audit',
      scripts: { import_addresses: addresses(['terraform_data.b', 'id-b']) },
    })
    expect(outcome).toEqual({ status: 'completed' })
    expect([...engine.imported]).toEqual([['terraform_data.b', 'id-b']])
    expect([world.llm.of(SPLIT), world.llm.of('requests_filter')]).toEqual([[], []])
    expect(said(world.llm.of('task_complete')[0])).toContain('- id-b')
    expect(said(world.llm.of('task_complete')[0])).not.toContain('- id-a')
    expect(report).toMatchObject({
      summary: { selected: 1, imported: 1, failed: 0 },
      excluded_resources: [
        { resource_id: 'id-audit', details: 'On the import exception list.' },
        { resource_id: 'id-a', details: 'Not selected by the request.' },
      ],
    })
  })

  it('tells of each that is managed or gone by now', async () => {
    const { engine, report } = await choose(['id-managed', 'id-gone', 'id-a'], {
      scope: ['id-a', 'id-managed'],
      state: ['id-managed'],
      scripts: { import_addresses: addresses(['terraform_data.a', 'id-a']) },
    })
    expect([...engine.imported]).toEqual([['terraform_data.a', 'id-a']])
    expect(report).toMatchObject({
      summary: { selected: 2, imported: 1, failed: 1 },
      status: 'Partial',
      imported_resources: [
        { resource_id: 'id-a', status: 'imported' },
        { resource_id: 'id-gone', status: 'failed', error_message: 'The scope does not list it any more.' },
      ],
      excluded_resources: [{ resource_id: 'id-managed', details: 'Managed since the preview.' }],
    })
  })

  it.each([
    ['all of it is gone', { scope: ['id-x'] }, 'Failed', 'None of the chosen resources can be imported any more.'],
    [
      'the scope is all managed',
      { scope: ['id-a'], state: ['id-a'] },
      'Succeeded',
      'Every resource in the scope acme-test is already managed.',
    ],
  ])('imports nothing when %s', async (_, given, status, words) => {
    const { engine, outcome, report } = await choose(['id-a'], given)
    expect(outcome).toEqual({ status: 'completed' })
    expect(engine.imported.size).toBe(0)
    expect(report).toMatchObject({ status, execution_summary: words })
    expect(JSON.stringify(report)).toContain('id-a')
  })

  it('goes on after an interruption with what its ledger holds', async () => {
    const { world, engine } = await prepare(steps, {
      scope: ['id-a', 'id-b', 'id-c', 'id-managed'],
      state: ['id-managed'],
      scripts: { import_addresses: addresses(['terraform_data.b', 'id-b']) },
    })
    const { round } = world.run
    round.resource_ids = ['id-a', 'id-b', 'id-gone', 'id-managed']
    const ledger = await openLedger(world.kit, ['id-a', 'id-b'])
    await ledger.begin({ address: 'terraform_data.a', resource_id: 'id-a' }, 'commit-0')
    await ledger.succeed('id-a')
    engine.imported.set('terraform_data.a', 'id-a')
    Object.assign(round, { attempt: 2 })
    expect(await modes.import.handle(world.run)).toEqual({ status: 'completed' })
    expect([...engine.imported.values()]).toEqual(['id-a', 'id-b'])
    expect(reportOf(world)).toMatchObject({
      summary: { selected: 3, imported: 2, failed: 1 },
      imported_resources: [{ resource_id: 'id-a' }, { resource_id: 'id-b' }, { resource_id: 'id-gone' }],
      excluded_resources: [
        { resource_id: 'id-managed', details: 'Managed since the preview.' },
        { resource_id: 'id-c', details: 'Not selected by the request.' },
      ],
    })
  })

  it('fails as others do when the engine refuses one', async () => {
    const { report } = await choose(['id-a', 'id-b'], {
      scope: ['id-a', 'id-b'],
      orchestration: { max_import_iteration: 1 },
      answer: (kind, body) =>
        kind === 'import' && body.resource_id === 'id-a' ? { exit_code: 1, stderr: 'Cannot import it' } : undefined,
    })
    expect(report).toMatchObject({ summary: { selected: 2, imported: 1, failed: 1 }, status: 'Partial' })
  })
})
