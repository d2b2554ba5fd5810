import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { artifactsOf } from './artifacts.ts'
import { addresses, blocks, importLlm, importReport, QUERY, runImport, withScope } from './import-world.ts'
import { done, MAIN, operations, SPLIT, targets, write } from './scripts.ts'
import { appliedRepository, nextRound, planPath, runGenerate, startStack } from './stack.ts'

const stack = startOnce(startStack)

describe('a full import', () => {
  it('writes code, imports one resource after the other and reports what the state says', async () => {
    const repo_uri = await appliedRepository(stack, undefined, (state) =>
      state.replace(/"id":\s*"[^"]+"/, '"id": "id-managed"'),
    )
    const iac = withScope(stack, ['id-b', 'id-managed', 'id-a', 'id-b'])
    const { llm, session } = await runImport(stack, iac, {}, { request: { repo_uri, query: QUERY, mode: 'import' } })
    expect(session.statuses).toEqual([
      'started',
      'filtering',
      'generating',
      'validating',
      'validating',
      'validating',
      'validating',
      'validating',
      'report',
      'completed',
    ])
    expect(session.messages.slice(-7)).toEqual([
      'Waiting for infrastructure as code to be validated.',
      'Imported 1 of 2 resources.',
      'Imported 2 of 2 resources.',
      'Assessing drift on the targeted infrastructure.',
      'No drift found; the targeted infrastructure is synchronized.',
      'Infrastructure successfully validated. Generating report',
      'IMPORT',
    ])
    expect(session).toMatchObject({ in_flight: false, is_blocked: false })
    expect(session.history).toEqual([{ user: QUERY, assistant: 'Wrote two blocks.' }])
    expect(await stack.git(repo_uri, 'show', `${session.branch}:imported.tf`)).toBe(blocks('a', 'b'))
    expect(existsSync(planPath(stack, session.uuid))).toBe(false)
    expect(llm.of('requests_filter')).toEqual([])
    expect(llm.of('report_compliance_findings')).toEqual([])

    expect(iac.imports()).toEqual([
      ['terraform_data.a', 'id-a'],
      ['terraform_data.b', 'id-b'],
    ])
    expect(iac.jobs.map(({ kind }) => kind).slice(0, 3)).toEqual(['init', 'state_resource_ids', 'scope_resource_ids'])
    const scoped = iac.jobs.filter(({ kind }) => ['init', 'plan', 'import', 'scope_resource_ids'].includes(kind))
    expect(new Set(scoped.map(({ body }) => `${body.scope_id} ${body.engine_provider}`))).toEqual(
      new Set(['acme-test aws']),
    )

    expect(await importReport(stack, session.uuid)).toEqual({
      summary: { selected: 2, imported: 2, failed: 0 },
      status: 'Succeeded',
      execution_summary: 'What was done.',
      imported_resources: [
        {
          resource_address: 'terraform_data.a',
          resource_id: 'id-a',
          status: 'imported',
          details: 'The first one.',
          error_message: null,
        },
        {
          resource_address: 'terraform_data.b',
          resource_id: 'id-b',
          status: 'imported',
          details: '',
          error_message: null,
        },
      ],
      excluded_resources: [],
      state_alignment: 'Aligned: a plan after the import changes none of the imported resources (2).',
      recommendations: ['Open a pull request.'],
    })
    const artifacts = await artifactsOf(stack, session.uuid)
    expect(artifacts.map(({ kind, type }) => [kind, type])).toEqual([
      ['change', null],
      ['plan', 'plan'],
      ['plan', 'plan'],
      ['report', null],
    ])
    expect(artifacts[1]?.text).toContain('Plan: 2 to add, 0 to change, 0 to destroy.')
    expect(artifacts[2]?.text).toContain('No changes.')
    const input = said(llm.of('generate_engine_import_report')[0])
    for (const key of ['selected_resource_ids', 'excluded_resource_ids', 'import_results', 'plan_after_import'])
      expect(input).toContain(key)
    expect(said(llm.of('task_complete')[0])).not.toContain('Forbidden actions')
  })

  it('imports to a block that the code had before, which the targets do not hold: they are widened', async () => {
    const scripts = {
      import_addresses: addresses(['terraform_data.a', 'id-a'], ['terraform_data.waiting', 'id-b']),
      task_complete: [write('imported.tf', blocks('a')), done('One block was there already.')],
      generate_engine_targets: targets('terraform_data.a'),
    }
    const iac = withScope(stack, ['id-a', 'id-b'])
    const request = { files: { 'main.tf': MAIN + blocks('waiting') }, query: QUERY, mode: 'import' } as const
    const { llm, session } = await runImport(stack, iac, scripts, { request })
    expect(session.messages.at(-1)).toBe('IMPORT')
    expect(iac.imports()).toEqual([
      ['terraform_data.a', 'id-a'],
      ['terraform_data.waiting', 'id-b'],
    ])
    expect(llm.of('import_addresses')).toHaveLength(1)
    // It writes and ends, once.
    expect(llm.of('task_complete')).toHaveLength(2)
    expect((await importReport(stack, session.uuid)).summary).toEqual({ selected: 2, imported: 2, failed: 0 })
  })

  it('leaves pin, lock and the plan of an earlier generate round alone', async () => {
    const iac = withScope(stack, ['id-a', 'id-b'])
    const { session: generated } = await runGenerate(stack)
    expect(generated.statuses.at(-1)).toBe('completed')
    const { sql } = stack.database
    await sql`UPDATE sessions SET is_blocked = true WHERE uuid = ${generated.uuid}`
    const llm = importLlm()
    const session = await nextRound(stack, stack.context(llm, { iac }), generated.uuid, QUERY, { mode: 'import' })
    expect(session.messages.at(-1)).toBe('GENERATE')
    expect(session.is_blocked).toBe(true)
    expect(existsSync(planPath(stack, session.uuid))).toBe(true)
    expect(session.history.map(({ assistant }) => assistant)).toEqual(['Added a second greeting.', 'Wrote two blocks.'])
    // Code that the session wrote earlier and never applied is no drift of this round.
    expect(llm.of(SPLIT)).toEqual([])
  })

  it('makes the code follow the cloud where they differ', async () => {
    const iac = withScope(stack, ['id-a'])
    const { llm, session } = await runImport(stack, iac, {
      task_complete: [
        ...[write('imported.tf', `resource "terraform_data" "a" {\n  input = "guessed"\n}\n`), done('Wrote a block.')],
        ...[write('imported.tf', blocks('a')), done('Took the guess back.')],
      ],
      generate_engine_targets: targets('terraform_data.a'),
      import_addresses: addresses(['terraform_data.a', 'id-a']),
      [SPLIT]: operations(['Remove the input of terraform_data.a']),
    })
    // Splitter and exception filter. The session's own commits explain the rest without a model.
    expect(llm.of(SPLIT).map(({ role }) => role)).toEqual(['main', 'small'])
    expect(said(llm.of(SPLIT)[0])).toContain('guessed')
    expect(await stack.git(session.repo_uri, 'show', `${session.branch}:imported.tf`)).toBe(blocks('a'))
    expect((await importReport(stack, session.uuid)).state_alignment).toMatch(/^Aligned: /)
    expect((await artifactsOf(stack, session.uuid)).map(({ kind, type }) => [kind, type])).toEqual([
      ['plan', 'plan'],
      ['plan', 'drift'],
      ['change', null],
      ['plan', 'plan'],
      ['report', null],
    ])
    expect(session.history.map(({ assistant }) => assistant)).toEqual(['Wrote a block.'])
  })

  it('follows an import that the code moves afterwards: rows and verdict have the present address', async () => {
    const moved = `${blocks('kept')}moved {\n  from = terraform_data.a\n  to   = terraform_data.kept\n}\n`
    const iac = withScope(stack, ['id-a'])
    const { session } = await runImport(stack, iac, {
      task_complete: [
        ...[write('imported.tf', `resource "terraform_data" "a" {\n  input = "guessed"\n}\n`), done('Wrote a block.')],
        ...[write('imported.tf', moved), done('Gave the block its name.')],
      ],
      generate_engine_targets: targets('terraform_data.a', 'terraform_data.kept'),
      import_addresses: addresses(['terraform_data.a', 'id-a']),
      [SPLIT]: operations(['Remove the input of terraform_data.a']),
    })
    const report = await importReport(stack, session.uuid)
    expect(report.state_alignment).toBe(
      'Aligned: a plan after the import changes none of the imported resources (1). ' +
        'The next apply moves in the state alone: terraform_data.a to terraform_data.kept.',
    )
    expect(report.imported_resources).toMatchObject([{ resource_address: 'terraform_data.kept', resource_id: 'id-a' }])
  })

  it('says what still differs when the iterations are used up', async () => {
    const guess = `${blocks('a')}resource "terraform_data" "b" {\n  input = "guessed"\n}\n`
    const scripts = {
      task_complete: [write('imported.tf', guess), done('Wrote.')],
      [SPLIT]: operations(['Remove the input of terraform_data.b']),
    }
    const iac = withScope(stack, ['id-a', 'id-b'])
    const { session } = await runImport(stack, iac, scripts, { orchestration: { max_drift_reports: 1 } })
    const report = await importReport(stack, session.uuid)
    expect(report.status).toBe('Succeeded')
    expect(report.state_alignment).toBe(
      'Not aligned: a plan after the import still changes 1 of 2 imported resources: terraform_data.b (update).',
    )
  })
})
