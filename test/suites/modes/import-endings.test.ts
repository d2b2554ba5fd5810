import { describe, expect, it } from 'vitest'
import { modes } from '../../../pipeline/modes/index.ts'
import type { Cloud } from '../../../src/base/vocabulary.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { createSteps, type StepWorld } from '../../pipeline/steps/support.ts'
import { type Given, play, prepare, QUERY, reportOf } from './import-engine.ts'
import { addresses } from './import-world.ts'
import { decline, operations, SPLIT } from './scripts.ts'

const steps = startOnce(createSteps)

const kinds = ({ jobs }: StepWorld) => jobs.map(({ kind }) => kind)

describe('a round with nothing to import', () => {
  it.each([
    ['an empty scope', { scope: [] }, 'The scope acme-test holds no importable resource.', []],
    [
      'a scope that is all managed',
      { scope: ['id-a'], state: ['id-a'] },
      'Every resource in the scope acme-test is already managed.',
      [],
    ],
    [
      'a scope that is all excepted',
      { scope: ['id-b', 'id-a', 'id-b'], exceptions: '# Never\n- `id-a` owned by audit\n* id-b\n' },
      'Every unmanaged resource in the scope acme-test is on the import exception list.',
      ['id-a', 'id-b'],
    ],
  ] satisfies [
    string,
    Given,
    string,
    string[],
  ][])('ends well with an empty report: %s', async (_, given, text, excluded) => {
    const { world, outcome, report } = await play(steps, given)
    expect(outcome).toEqual({ status: 'completed' })
    expect(report).toEqual({
      summary: { selected: 0, imported: 0, failed: 0 },
      status: 'Succeeded',
      execution_summary: text,
      imported_resources: [],
      excluded_resources: excluded.map((resource_id) => ({ resource_id, details: 'On the import exception list.' })),
      state_alignment: 'Nothing was imported; the state is unchanged.',
      recommendations: ['Open a pull request.'],
    })
    expect(world.run.conversation).toEqual([{ user: QUERY, assistant: text }])
    expect((await world.statuses()).map(([name]) => name)).toEqual(['filtering', 'report'])
    expect(kinds(world)).toEqual(['init', 'state_resource_ids', 'scope_resource_ids'])
    expect(world.llm.of('construct_information')).toEqual([])
    const input = said(world.llm.of('generate_engine_import_report')[0])
    expect(input).toContain(text)
    expect(input).toContain('summary')
    expect(input).not.toContain('plan_after_import')
  })

  it.each([
    ['Nothing called billing was found.', 'Nothing called billing was found.'],
    ['  ', 'No unmanaged resource matched the request.'],
  ])('says why a request matched nothing: %j', async (explanation, text) => {
    const scripts = { [SPLIT]: operations([], explanation) }
    const { world, report } = await play(steps, { partial: true, scope: ['id-a'], scripts })
    expect(report).toMatchObject({ execution_summary: text, status: 'Succeeded' })
    expect(report.excluded_resources).toEqual([{ resource_id: 'id-a', details: 'Not selected by the request.' }])
    expect(world.run.conversation).toEqual([{ user: QUERY, assistant: text }])
  })

  it('ends uncompleted when the request is declined, after the scope was listed', async () => {
    const { world, outcome, report } = await play(steps, {
      partial: true,
      scripts: { requests_filter: decline('That is a new bucket, not an import.') },
    })
    expect(outcome).toEqual({ status: 'uncompleted', message: 'That is a new bucket, not an import.' })
    expect(world.run.conversation).toEqual([{ user: QUERY, assistant: 'That is a new bucket, not an import.' }])
    expect(report).toBeNull()
    expect(kinds(world)).toEqual(['init', 'state_resource_ids', 'scope_resource_ids'])
    expect(said(world.llm.of('requests_filter')[0])).toContain(QUERY)
  })
})

describe('a round that cannot look', () => {
  it.each([
    [
      'a workspace without init',
      { answer: (kind: string) => (kind === 'init' ? { exit_code: 1, stderr: 'Error: no backend' } : undefined) },
      'Error: no backend',
    ],
    [
      'a state that cannot be listed',
      { state: { exit_code: 1, stderr: 'Error: no access' } },
      'The state could not be listed: Error: no access',
    ],
    ['a state that says nothing', { state: { exit_code: 1 } }, 'The state could not be listed: engine state failed'],
    [
      'a state list of another form',
      { state: { stdout: '{"ids":[]}' } },
      'iac service returned an unexpected response: the state identifiers are no JSON list of texts.',
    ],
    [
      'a scope list that is no JSON',
      { scope: { stdout: 'id-a\nid-b' } },
      'iac service returned an unexpected response: the scope identifiers are no JSON list of texts.',
    ],
    [
      'a scope list of other things',
      { scope: { stdout: '["id-a", null]' } },
      'iac service returned an unexpected response: the scope identifiers are no JSON list of texts.',
    ],
    [
      'a scope whose region is not set',
      { scope: { exit_code: 1, stderr: 'AWS_REGION is not set\n' } },
      'The scope acme-test could not be listed: AWS_REGION is not set. ' +
        'Set AWS_REGION or AWS_DEFAULT_REGION for the iac service.',
    ],
    [
      'a scope that the identity may not list',
      { provider: 'gcp', scope: { exit_code: 1, stderr: '403 from Cloud Asset Inventory: denied' } },
      'denied. Give the account of the iac service roles/cloudasset.viewer',
    ],
    [
      'a scope, for a reason that is not known',
      { scope: { exit_code: 1, stderr: 'no luck in /clone/root/main.tf nor /var/lib/iac/jobs' } },
      'The scope acme-test could not be listed: no luck in ./main.tf nor …/jobs',
    ],
    ['a scope, without a word', { scope: { exit_code: 1 } }, 'could not be listed: engine scope failed'],
  ] satisfies [string, Given, string][])('fails before a model was asked: %s', async (_, given, text) => {
    const { world } = await prepare(steps, { scope: ['id-a'], partial: true, ...given })
    await expect(modes.import.handle(world.run)).rejects.toThrow(text)
    expect(world.llm.requests.map(({ chain }) => chain).filter((chain) => chain !== 'status')).toEqual([])
    expect(reportOf(world)).toBeNull()
  })
})

describe('what is selected', () => {
  it('is sorted, each once, without what is managed, excepted or no argument', async () => {
    const { engine, report } = await play(steps, {
      scope: ['id-b', '-state=elsewhere', 'id-a', 'id-x', 'id-b', 'id-m', '', 'two\nlines'],
      state: ['id-m'],
      exceptions: '- id-x',
    })
    expect([...engine.imported]).toEqual([
      ['terraform_data.a', 'id-a'],
      ['terraform_data.b', 'id-b'],
    ])
    expect(report.excluded_resources).toEqual([
      { resource_id: '-state=elsewhere', details: 'Cannot be given to the engine as an identifier.' },
      { resource_id: 'id-x', details: 'On the import exception list.' },
      { resource_id: 'two\nlines', details: 'Cannot be given to the engine as an identifier.' },
    ])
  })

  it.each([
    ['azure', ['id-b']],
    ['aws', ['ID-a', 'id-b']],
  ] satisfies [
    Cloud,
    string[],
  ][])('tells letter cases apart unless the cloud does not: %s', async (provider, selected) => {
    const { world } = await play(steps, {
      provider,
      scope: ['ID-a', 'id-b'],
      state: ['id-A'],
      scripts: { import_addresses: addresses(['terraform_data.a', 'id-A'], ['terraform_data.b', 'id-B']) },
    })
    expect(said(world.llm.of('import_addresses')[0])).toContain(selected.map((id) => `- ${id}`).join('\\n'))
    // A deviating spelling of the model is corrected if it means the same.
    const tried = world.jobs.filter(({ kind }) => kind === 'import').map(({ body }) => body.resource_id)
    expect(tried).toEqual(provider === 'azure' ? ['id-b'] : [])
  })

  it.each([
    ['azure', ['ID-a']],
    // The answer about addresses names what nobody gave the model.
    ['gcp', ['id-a']],
  ] satisfies [
    Cloud,
    string[],
  ][])('compares the exception list like the cloud does: %s', async (provider, withheld) => {
    const scripts = {
      import_addresses: addresses(
        ['terraform_data.a', provider === 'azure' ? 'ID-a' : 'id-a'],
        ['terraform_data.b', 'id-b'],
      ),
    }
    const { report } = await play(steps, { provider, scope: ['ID-a', 'id-b'], exceptions: '- `id-A`', scripts })
    expect(report.excluded_resources.map(({ resource_id }: { resource_id: string }) => resource_id)).toEqual(withheld)
  })

  it('needs no exception list for kubernetes', async () => {
    const { report } = await play(steps, { provider: 'kubernetes', scope: ['id-a', 'id-b'], exceptions: '- id-a' })
    expect(report).toMatchObject({ status: 'Succeeded', summary: { imported: 2 }, excluded_resources: [] })
  })

  it('comes from the list, whatever the import filter names', async () => {
    const scripts = { [SPLIT]: operations(['`id-b`', 'id-invented', 'id-b', '-lock=false']) }
    const { world, engine, report } = await play(steps, { partial: true, scope: ['id-a', 'id-b'], scripts })
    expect([...engine.imported]).toEqual([['terraform_data.b', 'id-b']])
    expect(report).toMatchObject({ summary: { selected: 1, imported: 1, failed: 0 }, status: 'Succeeded' })
    const details = 'Named by a model, and not among the identifiers that it was given.'
    expect(report.excluded_resources).toEqual([
      { resource_id: 'id-a', details: 'Not selected by the request.' },
      { resource_id: 'id-invented', details },
      { resource_id: '-lock=false', details },
    ])
    const [first] = world.llm.of(SPLIT)
    expect(first?.role).toBe('small')
    expect(first?.tools?.map(({ name }) => name)).toEqual([SPLIT])
  })
})
