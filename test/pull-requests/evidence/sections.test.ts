import { describe, expect, it } from 'vitest'
import { composeDescription } from '../../../src/pull-requests/evidence/compose.ts'
import type { Evidence } from '../../../src/pull-requests/evidence/evidence.ts'
import { code, inline, plainTitle, prose, table } from '../../../src/pull-requests/evidence/markdown.ts'
import { appliedSection } from '../../../src/pull-requests/evidence/sections/results.ts'
import { emptyResult } from '../../../src/rounds/round-result.ts'
import {
  changeListOf,
  check,
  evidenceOf,
  evidenceWith,
  generateReport,
  lost,
  report,
  sectionOf,
  titlesOf,
  UUID,
  withoutPlan,
} from './fixtures.ts'

const textOf = (evidence: Evidence, session_url = '') =>
  composeDescription('Why.', evidence, { limit: 65_536, session_url })
const partOf = (evidence: Evidence, title: string) => sectionOf(textOf(evidence), title)

const points = (...bullet_points: { title: string; description: string }[]) => ({
  potential_impact: { banner: { level: 'low', title: 'Small' }, bullet_points },
})

describe('the text of a generate session', () => {
  it('has the summary first and every section in order', () => {
    const text = textOf(evidenceOf())
    expect(text).toMatch(/^Why\.\n\n## Plan\n/)
    expect(titlesOf(text)).toEqual([
      'Plan',
      'Impact',
      'Checked against the request',
      'Compliance',
      'Cost estimate',
      'Assumptions',
      'Outside the targets',
      'How to roll back',
      'Session',
    ])
  })

  it('says what a lock blocks, that a round runs, that the latest one failed', () => {
    expect(textOf(evidenceOf())).not.toContain('> ')
    expect(textOf(evidenceOf({ session: { is_blocked: true } }))).toMatch(
      /^> \*\*This session is locked: merging and applying are blocked/,
    )
    expect(textOf(evidenceOf({ session: { in_flight: true } }))).toMatch(/^> A round of this session is running/)
    const rounds = [...evidenceOf().rounds, { number: 2, mode: 'generate', query: 'More', status: 'failed' } as const]
    expect(textOf(evidenceOf({ rounds }))).toMatch(/^> Round 2, the latest, failed/)
  })
})

describe('Plan', () => {
  it('shows counts and changes from code, what is destroyed first', () => {
    const generate = generateReport({
      summary: { create: 1, update: 0, delete: 1, recreate: 1 },
      detailed_changes: [
        { name: 'module.a["x.y"].aws_s3_bucket.logs[0]', action: 'create', summary: 'A | bucket.' },
        { name: 'aws_db_instance.main', action: 'recreate' },
        { name: 'aws_vpc.old', action: 'delete' },
      ],
    })
    expect(partOf(evidenceOf({ generate }), 'Plan')).toBe(
      [
        '**1 to create, 0 to update, 1 to delete, 1 to recreate** (round 1, planned 2026-01-31 23:59 UTC).',
        '',
        '| Action | Address | In words |',
        '| --- | --- | --- |',
        '| delete | `aws_vpc.old` |  |',
        '| recreate | `aws_db_instance.main` |  |',
        '| create | `module.a["x.y"].aws_s3_bucket.logs[0]` | A \\| bucket. |',
      ].join('\n'),
    )
  })

  it.each([
    ['drift', 'completed', true],
    ['generate', 'failed', true],
    ['apply', 'completed', false],
    ['generate', 'uncompleted', false],
  ] as const)('after a later %s round that %s says that it may be stale: %s', (mode, status, stale) => {
    const rounds = [...evidenceOf().rounds, { number: 2, mode, query: 'More', status }]
    expect(partOf(evidenceOf({ rounds }), 'Plan')?.includes('The branch may hold more than this plan shows')).toBe(
      stale,
    )
    expect(partOf(evidenceOf({ rounds }), 'Assumptions')?.includes('on commit `0123456789ab`')).toBe(!stale)
  })

  it('of a session without one says so', () => {
    expect(partOf(withoutPlan({}), 'Plan')).toBe('No plan was reviewed in this session.')
    expect(partOf(evidenceOf({ generate: generateReport({ summary: {}, detailed_changes: [] }) }), 'Plan')).toContain(
      'No resource changes.',
    )
  })
})

describe('Rounds', () => {
  it('tells what each of several rounds asked', () => {
    const rounds = [
      { number: 1, mode: 'generate', query: 'Add a bucket\n\nfor logs', status: 'completed' },
      { number: 2, mode: 'generate', query: 'Fixes #1 @all', status: 'uncompleted' },
      { number: 3, mode: 'apply', query: 'Engine apply.', status: 'completed' },
    ] as const
    expect(partOf(evidenceOf({ rounds: [...rounds] }), 'Rounds')).toBe(
      [
        '- Round 1, generate, completed: Add a bucket for logs',
        '- Round 2, generate, uncompleted: Fixes #\u200b1 @\u200ball',
        '- Round 3, apply, completed: Engine apply.',
      ].join('\n'),
    )
    expect(partOf(evidenceOf(), 'Rounds')).toBeNull()
  })
})

describe('Impact and Outside the targets', () => {
  const outside = (description: string) =>
    evidenceOf({
      generate: generateReport(
        points({ title: 'Access', description: 'None.' }, { title: 'Outside the targets', description }),
      ),
      plan: { targets: ['a.b'], created_at: '2026-01-31T00:00:00.000000Z', text: '' },
    })

  it('share the report without repeating each other', () => {
    const evidence = outside(
      'A plan of the whole root would also make a change that this plan leaves out:\n- update aws_vpc.main',
    )
    expect(partOf(evidence, 'Impact')).toBe('**low**: Small\n\n- Access: None.')
    expect(partOf(evidence, 'Outside the targets')).toBe(
      'A plan of the whole root would also make a change that this plan leaves out:\n\n- update `aws_vpc.main`',
    )
  })

  it('escape what an address smuggles in', () => {
    const evidence = outside('Lead:\n- delete a.b["`<img>`|@me"]\n/close\n- and 3 more')
    expect(partOf(evidence, 'Outside the targets')?.split('\n').slice(2)).toEqual([
      '- delete a.b\\["\\`&lt;img&gt;\\`\\|@\u200bme"\\]',
      '- \\/close',
      '- and 3 more',
    ])
  })

  it('of a plan of the whole root leaves nothing out; of an older report nobody knows', () => {
    expect(partOf(evidenceOf(), 'Outside the targets')).toBe('The whole root was planned: nothing is left out.')
    const plan = { targets: ['a.b'], created_at: '2026-01-31T00:00:00.000000Z', text: '' }
    expect(partOf(evidenceOf({ plan }), 'Outside the targets')).toBe('Not available for this plan.')
  })
})

describe('Compliance', () => {
  it('shows the verdict and the findings, the worst first', () => {
    const compliance = check([
      { rule_id: 'naming', severity: 'info', message: 'Odd | name.' },
      {
        rule_id: 'public_access',
        severity: 'critical',
        resource: 'aws_s3_bucket.logs',
        message: 'Open to all.',
        suggested_fix: 'Close it.',
      },
    ])
    const shown = partOf(evidenceOf({ compliance }), 'Compliance')
    expect(shown?.split('\n').slice(0, 6)).toEqual([
      '**Not passed** (round 1): 2 findings, 1 critical, 1 info.',
      '',
      '| Severity | Rule | Resource | Finding | Fix |',
      '| --- | --- | --- | --- | --- |',
      '| critical | `public_access` | `aws_s3_bucket.logs` | Open to all. | Close it. |',
      '| info | `naming` |  | Odd \\| name. |  |',
    ])
    expect(shown).toMatch(/Audited\.\n\nChecked: `scope_exceeded`$/)
  })

  it('of a clean plan has passed', () => {
    expect(partOf(evidenceOf(), 'Compliance')).toMatch(/^\*\*Passed\*\* \(round 1\): no findings\./)
  })

  it('says when there was no audit, or only one of an earlier plan', () => {
    expect(partOf(evidenceOf({ compliance: null }), 'Compliance')).toBe(
      'Not audited: no audit ran on the plan of round 1, because the audit was switched off.',
    )
    expect(partOf(evidenceOf({ generate: generateReport({}, 3) }), 'Compliance')).toBe(
      'Not audited: no audit ran on the plan of round 3, because the round ended before its audit. The latest audit is of round 1: **Passed**.',
    )
    expect(partOf(withoutPlan({}), 'Compliance')).toContain('Not audited')
  })
})

describe('Cost estimate', () => {
  it('is marked as one, with currency, total and breakdown', () => {
    const generate = generateReport({
      estimated_costs: {
        currency: 'EUR',
        total_fixed_monthly_cost: 12.3,
        introduction_paragraph: 'For one small database.',
        breakdown: [
          { resource_type: 'aws_db_instance', pricing_model: 'fixed', fixed_monthly_cost: 12.3, notes: 'db.t4g.micro' },
          { resource_type: 'aws_s3_bucket', pricing_model: 'usage_based' },
        ],
      },
    })
    expect(partOf(evidenceOf({ generate }), 'Cost estimate')).toBe(
      [
        '**EUR 12.30 a month** for what has a fixed price. An estimate of a model, not an offer.',
        '',
        'For one small database.',
        '',
        '| Resource | Pricing | EUR a month | Note |',
        '| --- | --- | --- | --- |',
        '| `aws_db_instance` | fixed | 12.30 | db.t4g.micro |',
        '| `aws_s3_bucket` | usage based |  |  |',
      ].join('\n'),
    )
    expect(partOf(evidenceOf({ generate }), 'Assumptions')).toContain(
      'What is charged by use is not in it: `aws_s3_bucket`.',
    )
  })
})

describe('Assumptions', () => {
  it('name targets, time, commit and what is known only after apply', () => {
    const text = '  + id = (known after apply)\n  + arn = (known after apply)\n'
    const plan = { targets: ['a.b', 'module.c'], created_at: '2026-01-31T10:20:30.000000Z', text }
    const shown = partOf(evidenceOf({ plan }), 'Assumptions')
    expect(shown).toContain('- Only 2 targets and what they depend on were planned: `a.b`, `module.c`.')
    expect(shown).toContain('- The engine planned at 2026-01-31 10:20 UTC on commit `0123456789ab`.')
    expect(shown).toContain('- 2 values of the plan are known only after apply')
  })

  it('say what is not available', () => {
    const plan = { targets: [], created_at: '2026-01-31T10:20:30.000000Z', text: null }
    expect(partOf(evidenceOf({ plan }), 'Assumptions')).toContain(
      'Which values are known only after apply is not available.',
    )
    const none = partOf(evidenceOf({ plan: null }), 'Assumptions')
    expect(none).toContain('Which targets were planned is not available.')
    expect(none).toContain('When the plan was made is not available.')
  })
})

describe('How to roll back', () => {
  const changes = (...list: [string, string][]) => {
    const count = (action: string) => list.filter(([, one]) => one === action).length
    return generateReport({
      summary: {
        create: count('create'),
        update: count('update'),
        delete: count('delete'),
        recreate: count('recreate'),
      },
      detailed_changes: list.map(([name, action]) => ({ name, action })),
    })
  }

  it('names what cannot be undone, from code', () => {
    const generate = changes(
      ['module.db["a.b"].aws_db_instance.main[0]', 'recreate'],
      ['aws_iam_role.ci', 'delete'],
      ['terraform_data.plain', 'delete'],
      ['aws_s3_bucket.logs', 'create'],
      ['aws_db_instance.same', 'update'],
    )
    const shown = partOf(evidenceOf({ generate }), 'How to roll back')
    expect(shown).toContain(
      '1. Before the merge: close this pull request. Unless the session applies its plan, nothing has changed.',
    )
    expect(shown).toContain('2. Once merged and not applied: revert the merge commit')
    expect(shown).toContain('3. Once applied: a revert changes the code alone.')
    expect(shown).toContain('A revert changes 1 updated object back in place.')
    const behind = (lead: string) => shown?.split(lead)[1]?.split('\n\n')[1]
    expect(behind('**There is no safe way back** for the content of these')).toBe(
      '- `module.db["a.b"].aws_db_instance.main[0]` (recreate)',
    )
    expect(behind('Comes back with new keys')).toBe('- `aws_iam_role.ci` (delete)')
    expect(behind('Comes back as a new object')).toBe('- `terraform_data.plain` (delete)')
    expect(behind('A revert destroys these new objects with everything')).toBe('- `aws_s3_bucket.logs` (create)')
  })

  it('of an older plan says that its moves are not on record', () => {
    expect(partOf(evidenceOf(), 'How to roll back')).toMatch(/Moves, imports and forgotten objects .+ not on record\./)
  })
})

describe('Applied', () => {
  const apply = (round: number) =>
    report(
      'apply',
      {
        summary: { created: 1, failed: 1 },
        status: 'Partial',
        execution_summary: 'Half of it.',
        resource_changes: [
          { resource_name: 'a.b', action: 'created', status: 'success' },
          {
            resource_type: 'a',
            resource_name: 'c',
            action: 'created',
            status: 'failed',
            error_message: 'quota <exceeded>',
          },
        ],
      },
      round,
    )

  it('says which plan was applied, and what failed', () => {
    expect(partOf(evidenceOf({ apply: apply(2) }), 'Applied')).toBe(
      'An apply of the reviewed plan ran before this pull request was opened and is complete in part only. ' +
        '**Partial: 1 created, 0 updated, 0 destroyed, 1 failed** (round 2, 2026-01-31 23:59 UTC).\n\n' +
        'Half of it.\n\nFailed:\n\n- `a.c`: quota &lt;exceeded&gt;',
    )
    expect(partOf(evidenceOf({ apply: apply(2), generate: generateReport({}, 3) }), 'Applied')).toMatch(
      /^An apply of an earlier plan of this session ran/,
    )
  })
})

describe('a drift session', () => {
  const drift = report('drift', {
    summary: 'Two of three.',
    status: 'Partial',
    remediated_resources: [
      {
        file_path: 'main.tf',
        resource_address: 'aws_vpc.main',
        changes: [{ change_description: 'Tag a | b' }, { change_description: 'CIDR' }],
      },
    ],
    unreconciled_drift: [{ reason: 'No permission.' }, { resource_address: 'a.b', reason: 'Unknown @type' }],
    whitelisted_exceptions: [{ resource_address: 'a.c', change: 'Autoscaling', rule: 'counts' }],
  })
  const evidence = withoutPlan({
    session: { operation: 'drift' },
    drift,
    rounds: [{ number: 1, mode: 'drift', query: 'x', status: 'completed' }],
  })

  it('shows what was remediated, what is left, what is expected', () => {
    const text = textOf(evidence)
    expect(titlesOf(text)).toEqual(['Drift', 'Compliance', 'Assumptions', 'How to roll back', 'Session'])
    expect(sectionOf(text, 'Drift')).toBe(
      [
        '**Partial: 1 remediated, 2 unreconciled, 1 expected** (round 1, 2026-01-31 23:59 UTC).',
        'Two of three.',
        '| Remediated | File | Change |\n| --- | --- | --- |\n| `aws_vpc.main` | `main.tf` | Tag a \\| b; CIDR |',
        'Unreconciled:',
        '- No permission.\n- `a.b`: Unknown @\u200btype',
        'Expected to differ:',
        '- `a.c`: Autoscaling (counts)',
      ].join('\n\n'),
    )
    expect(sectionOf(text, 'How to roll back')).toContain('The code followed the infrastructure')
    expect(sectionOf(text, 'Assumptions')).toContain('Drift was read in round 1')
  })
})

describe('an import session', () => {
  const imported = report('import', {
    summary: { selected: 2, imported: 1, failed: 1 },
    status: 'Partial',
    execution_summary: 'One of two.',
    imported_resources: [
      { resource_address: 'aws_s3_bucket.a', resource_id: 'acme-a', status: 'imported' },
      { resource_address: '', resource_id: 'acme-b', status: 'failed', error_message: 'no such bucket' },
    ],
    excluded_resources: [{ resource_id: 'acme-state', details: 'On the exception list.' }],
    state_alignment: 'The plan is empty.',
  })

  it('shows what was imported, failed and excluded, and how to get it out again', () => {
    const text = textOf(
      withoutPlan({
        session: { operation: 'import' },
        import: imported,
        rounds: [{ number: 1, mode: 'import', query: 'x', status: 'completed' }],
      }),
    )
    expect(sectionOf(text, 'Import')).toBe(
      [
        '**Partial: 2 selected, 1 imported, 1 failed, 1 excluded** (round 1, 2026-01-31 23:59 UTC).',
        'One of two.',
        [
          '| Result | Address | Identifier | Note |',
          '| --- | --- | --- | --- |',
          '| failed | none | `acme-b` | no such bucket |',
          '| imported | `aws_s3_bucket.a` | `acme-a` |  |',
        ].join('\n'),
        'Excluded:',
        '- `acme-state`: On the exception list.',
        'State alignment: The plan is empty.',
      ].join('\n\n'),
    )
    expect(sectionOf(text, 'How to roll back')).toContain('What the import took in is in the state already')
  })
})

describe('a document that could not be read', () => {
  it('is said in each section that needs it', () => {
    const text = textOf(
      evidenceOf({
        generate: lost(),
        drift: lost(2),
        import: lost(3),
        apply: lost(4),
        compliance: { ...check(), document: null },
      }),
    )
    for (const [title, round] of [
      ['Plan', 1],
      ['Drift', 2],
      ['Import', 3],
      ['Applied', 4],
      ['Impact', 1],
      ['Cost estimate', 1],
      ['Outside the targets', 1],
    ] as const)
      expect(sectionOf(text, title), title).toBe(
        `Not available: the report of round ${round} could not be read. The session holds it.`,
      )
    expect(sectionOf(text, 'Compliance')).toBe(
      '**Passed** (round 1). The findings could not be read; the session holds them.',
    )
    expect(sectionOf(text, 'How to roll back')).toContain('let a generate round plan it, review and apply.')
  })
})

describe('Session', () => {
  it('is a link where its page is known, else its id', () => {
    expect(partOf(evidenceOf(), 'Session')).toBe(`Session \`${UUID}\`, branch \`Platform/2026-01-31_235959-1a2b\`.`)
    const linked = (url: string) => sectionOf(textOf(evidenceOf(), url), 'Session')
    expect(linked('https://platform.example.com/s?id={session_id}')).toContain(
      `[Session ${UUID}](https://platform.example.com/s?id=${UUID}), branch`,
    )
    expect(linked('https://platform.example.com/a_(b)/{session_id}')).toContain(
      `(https://platform.example.com/a%5F%28b%29/${UUID})`,
    )
  })
})

const rollBackOf = (evidence: Evidence) => partOf(evidence, 'How to roll back') ?? ''
const applied = (status: 'Success' | 'Failed' = 'Success', round = 2) =>
  report('apply', { summary: {}, status, execution_summary: 'Done.' }, round)

/** One change of each kind. */
const EVERY = changeListOf([
  { address: 'aws_s3_bucket.added', action: 'create' },
  { address: 'aws_vpc.added', action: 'create' },
  { address: 'aws_vpc.found', action: 'import', import_id: 'vpc-1' },
  { address: 'aws_vpc.hidden', action: 'update', import_id: null },
  { address: 'aws_db_instance.gone', action: 'delete' },
  { address: 'aws_iam_role.gone', action: 'delete', delete_reason: 'delete_because_each_key' },
  { address: 'module.b.aws_db_instance.new', action: 'move', previous_address: 'aws_db_instance.old' },
  { address: 'aws_vpc.one[0]', action: 'move', previous_address: 'aws_vpc.one' },
  { address: 'aws_vpc.new', action: 'update', previous_address: 'aws_vpc.old' },
  { address: 'aws_subnet.a', action: 'replace', replace_paths: ['cidr_block', 'tags["a b"]'] },
  { address: 'aws_subnet.b', action: 'replace', replace_reason: 'replace_because_tainted' },
  { address: 'aws_subnet.c', action: 'replace', replace_reason: 'replace_by_triggers', keeps_old: true },
  { address: 'aws_vpc.kept', action: 'forget' },
])

describe('the recorded changes of a plan', () => {
  it('shows moves, imports, forgotten objects and what forces replacements, what is destroyed first', () => {
    const generate = generateReport({ detailed_changes: [{ name: 'aws_vpc.new', action: 'update', summary: 'Tags.' }] })
    expect(partOf(evidenceWith({ changes: EVERY }, { generate }), 'Plan')).toBe(
      [
        '**2 to create, 2 to update, 2 to delete, 3 to recreate, 3 to move, 2 to import, 1 to forget** (round 1, ' +
          'planned 2026-01-31 23:59 UTC).',
        '',
        '| Action | Address | In words |',
        '| --- | --- | --- |',
        '| delete | `aws_db_instance.gone` |  |',
        '| delete | `aws_iam_role.gone`, its key is not in `for_each` |  |',
        '| recreate | `aws_subnet.a`, forced by `cidr_block`, `tags["a b"]` |  |',
        '| recreate | `aws_subnet.b`, marked as damaged |  |',
        '| recreate | `aws_subnet.c`, forced by `replace_triggered_by`, the old object stays, no longer managed |  |',
        '| forget | `aws_vpc.kept`, stays, no longer managed |  |',
        '| import, update | `aws_vpc.hidden` |  |',
        '| move, update | `aws_vpc.old` → `aws_vpc.new` | Tags. |',
        '| create | `aws_s3_bucket.added` |  |',
        '| create | `aws_vpc.added` |  |',
        '| import | `aws_vpc.found`, as `vpc-1` |  |',
        '| move | `aws_db_instance.old` → `module.b.aws_db_instance.new` |  |',
        '| move | `aws_vpc.one` → `aws_vpc.one[0]` |  |',
      ].join('\n'),
    )
  })

  it('is shown from the round when the report cannot be read', () => {
    const shown = partOf(evidenceWith({ changes: EVERY }, { generate: lost() }), 'Plan')
    expect(shown).toContain('| delete | `aws_db_instance.gone` |')
    expect(shown).toContain('The report of round 1 could not be read.')
  })

  it('counts what the list leaves out', () => {
    const entries = Array.from({ length: 60 }, (_, index) => ({ address: `a.b[${index}]`, action: 'create' as const }))
    const list = { ...changeListOf(entries), total: 700 }
    expect(partOf(evidenceWith({ changes: list }), 'Plan')).toMatch(/and 650 more$/)
    expect(rollBackOf(evidenceWith({ changes: list }))).toContain('This is about the first 60 of 700 changes.')
  })

  it('is followed by the remarks of its round alone', () => {
    const evidence = evidenceWith({ notes: ['Targets `a.b` were dropped.', ' ', 'Not planned: @all'] })
    expect(partOf(evidence, 'Plan')).toMatch(
      /To be noted:\n\n- Targets \\`a\.b\\` were dropped\.\n- Not planned: @\u200ball$/,
    )
    const [first] = evidence.rounds
    const later = evidenceOf({ rounds: [...(first ? [first] : []), ...second()], generate: generateReport({}, 2) })
    expect(partOf(later, 'Plan')).not.toContain('To be noted')
  })
})

const second = () => [{ number: 2, mode: 'generate', query: 'More', status: 'completed' }] as const

describe('How to roll back recorded changes', () => {
  const shown = rollBackOf(evidenceWith({ changes: EVERY }))
  const behind = (lead: string) => shown.split(lead)[1]?.split('\n\n')[1]?.split('\n')

  it('asks for no more than closing before the plan is applied', () => {
    expect(shown.split('\n').slice(0, 3)).toEqual([
      '1. Before the merge: close this pull request. Unless the session applies its plan, nothing has changed.',
      expect.stringMatching(/^2\. Once merged and not applied: revert the merge commit .+ That is enough\.$/),
      expect.stringMatching(/^3\. Once applied: a revert changes the code alone\./),
    ])
  })

  it.each([
    ['**There is no safe way back** for the content', ['- `aws_db_instance.gone` (delete)']],
    [
      '**Do not revert `moved` blocks.**',
      ['- from `module.b.aws_db_instance.new` to `aws_db_instance.old`', '- from `aws_vpc.new` to `aws_vpc.old`'],
    ],
    ['then holds these imported objects', ['- `aws_vpc.found`', '- `aws_vpc.hidden`']],
    ['nobody manages them any more', ['- `aws_subnet.c` (recreate)', '- `aws_vpc.kept` (forget)']],
    ['destroys these new objects with everything stored in them', ['- `aws_s3_bucket.added` (create)']],
    ['Comes back with new keys', ['- `aws_iam_role.gone` (delete)']],
    ['Comes back as a new object', ['- `aws_subnet.a` (recreate)', '- `aws_subnet.b` (recreate)']],
    ['A revert destroys these new objects:', ['- `aws_vpc.added` (create)']],
  ])('says by action: %s', (lead, lines) => {
    expect(behind(lead)).toEqual(lines)
  })

  it('warns of a revert that is not safe, and of none that is', () => {
    const warning = 'Once applied, **a revert alone is not safe**'
    expect(shown).toContain(warning)
    const safe = changeListOf([
      { address: 'a.b', action: 'update' },
      { address: 'a.one', action: 'move', previous_address: 'a.one[0]' },
    ])
    const harmless = rollBackOf(evidenceWith({ changes: safe }))
    expect(harmless).not.toContain(warning)
    expect(harmless).toContain('A revert changes 1 updated object back in place.')
    expect(harmless).toContain('1 move between an address with and without `[0]` go back with the revert.')
    expect(harmless).toMatch(/The plan destroys and recreates nothing\.$/)
  })

  it('after the apply no longer says that closing or reverting undoes it', () => {
    const after = rollBackOf(evidenceWith({ changes: EVERY }, { apply: applied() }))
    expect(after).toContain(
      '1. Before the merge: closing this pull request undoes nothing, because the plan was applied.',
    )
    expect(after).not.toContain('That is enough')
    expect(after).toContain('**Do not revert `moved` blocks.**')
  })

  it('after an apply that is not known to have changed anything refers to it', () => {
    const evidence = evidenceWith({ changes: EVERY }, { apply: applied('Failed') })
    expect(rollBackOf(evidence)).toContain('see above what is known of the apply')
    expect(rollBackOf(evidence)).not.toContain('That is enough')
    expect(partOf(evidence, 'Applied')).toMatch(
      /^An apply of the reviewed plan ran .+ and changed nothing that is known\./,
    )
    expect(appliedSection(evidence)?.forms.at(-1)).toContain('Done.')
  })

  it('says that an earlier plan of the session was applied', () => {
    const evidence = evidenceOf({ generate: generateReport({}, 3), apply: applied('Success', 2) })
    expect(rollBackOf(evidence)).toMatch(
      /^1\. Round 2 applied an earlier plan of this session\. Closing .+ undoes nothing/,
    )
    expect(rollBackOf(evidence)).not.toContain('nothing has changed.')
  })

  it('names fewer objects, then only counts them, where the host limits the length', () => {
    const entries = Array.from({ length: 30 }, (_, index) => ({
      address: `aws_db_instance.database_with_a_long_name_${index}`,
      action: 'move' as const,
      previous_address: `module.databases.aws_db_instance.database_with_a_long_name_${index}`,
    }))
    const evidence = evidenceWith({ changes: changeListOf(entries) })
    const within = (limit: number) =>
      sectionOf(composeDescription('Why.', evidence, { limit, session_url: '' }), 'How to roll back')
    expect(within(65_536)).toContain('- and 10 more')
    expect(within(4_000)).toMatch(/in place of the present ones: 30 objects\.|and 25 more/)
    expect(composeDescription('Why.', evidence, { limit: 4_000, session_url: '' }).length).toBeLessThanOrEqual(4_000)
  })
})

describe('Assumptions of the generator', () => {
  const assumed = (...assumptions: string[]) => ({ ...emptyResult(), assumptions })

  it('of the generator stand before those of code, the latest first, each once, as its words', () => {
    const evidence = evidenceOf({
      rounds: [
        { number: 1, mode: 'generate', query: 'a', status: 'completed', result: assumed('One zone.', 'No backups') },
        { number: 2, mode: 'generate', query: 'b', status: 'failed', result: assumed('Never built.') },
        { number: 3, mode: 'generate', query: 'c', status: 'completed', result: assumed('Two zones.', 'no backups.') },
      ],
    })
    expect(partOf(evidence, 'Assumptions')).toMatch(
      new RegExp(
        '^The model that wrote the code assumed, in its own words:\n\n- Two zones\\.\n- no backups\\.\n- One zone\\.\n\n' +
          'What the evidence is based on:\n\n- The whole root was planned\\.',
      ),
    )
  })

  it('are escaped', () => {
    const evil = 'Fixes #1 @octocat ![x](https://evil.example/p.png) <img src=x>\n/close\n## Approved'
    const shown = partOf(evidenceWith({ assumptions: [evil], notes: [evil], drift: [evil] }), 'Assumptions') ?? ''
    const whole = textOf(evidenceWith({ assumptions: [evil], notes: [evil], drift: [evil] }))
    expect(shown.split('\n')[2]).toMatch(/^- Fixes #\u200b1 @\u200boctocat /)
    expect(whole).not.toMatch(/@(?=\w)|#(?=\d)|!\[|<\w|^\s*\/\w|^## Approved|:\/\//m)
  })

  it('of rounds without a result are those of code alone', () => {
    expect(partOf(evidenceOf(), 'Assumptions')).toMatch(/^- The whole root was planned\./)
  })
})

describe('Drift in a round of a request', () => {
  it('that a round of a request wrote into the code is told, and what a revert does to it', () => {
    const evidence = evidenceWith({ drift: ['update aws_vpc.main: tags', 'delete aws_vpc.old'] })
    expect(partOf(evidence, 'Drift')).toBe(
      'Round 1 found that others had changed the infrastructure, and wrote this into the code before its plan was ' +
        'reviewed:\n\n- update aws_vpc.main: tags\n- delete aws_vpc.old',
    )
    expect(rollBackOf(evidence)).toContain('The code followed the infrastructure where that had drifted')
    expect(rollBackOf(evidenceOf())).not.toContain('The code followed')
  })

  it('stands behind that of a drift round', () => {
    const drift = report('drift', { summary: 'All of it.', status: 'Succeeded' }, 2)
    expect(partOf(evidenceWith({ drift: ['update a.b'] }, { drift }), 'Drift')).toMatch(
      /^\*\*Succeeded: .+\n\nAll of it\.\n\nRound 1 found .+\n\n- update a\.b$/,
    )
  })
})

/** Texts that a host would act on, in any position. */
const ACTIVE: [string, RegExp][] = [
  ['mention', /@[A-Za-z0-9]/],
  ['reference', /(^|[^&\\])[#!~%$^&](?=\d|[A-Za-z"])(?!amp;|lt;|gt;)/],
  ['link or image', /(^|[^\\])\[[^\]]*[^\\]\]\(|(^|[^\\])\]\(/],
  ['address', /:\/\/|www\./],
  ['HTML', /<[a-z!/]/i],
  ['tracker', /\b(GH|PROJ|AB)-\d/],
  ['directive', /\[(skip ci|ci skip|no ci|skip azp)\]|skip-checks:|\*{3}NO_CI/i],
]

const HOSTILE = [
  '@octocat please review, cc @acme/admins',
  'Fixes #1, closes acme/infra#2, resolves GH-3 and PROJ-4, fixes AB#5',
  'Closes https://github.com/acme/infra/issues/6',
  '![pixel](https://evil.example/x.png?d=1) [click](javascript:alert(1)) <https://evil.example>',
  '<img src=x onerror=alert(1)><script>alert(1)</script><!-- hidden -->',
  'www.evil.example and mailto:a@evil.example and ftp://evil.example',
  '!7 and &8 and %"v1" and ~bug and ~"needs review" and $9 and ^alert#10',
  '\u202egnp.exe\u202c in zero\u200bwidth #\u200b11 @\u2060octocat',
  '[x] [^1] [[Wiki]] [issue:12]',
  'The marker `[skip ci]` in code',
  'Fix the queue [skip ci] [CI skip] [no ci] [skip azp] skip-checks: true ***NO_CI***',
  '`code` ```fence``` ``x | y``',
  '| a | b |\n|---|---|\n| c | d |',
  '# heading\n\n/close\n/assign @me\n---\n> quote\n1. one\n- item\n::include{file=x}',
]

describe('a line of foreign text', () => {
  it.each(HOSTILE)('does nothing at a host: %j', (text) => {
    const line = inline(text, 4_000)
    for (const [what, pattern] of ACTIVE) expect(line, what).not.toMatch(pattern)
    expect(line).not.toMatch(/\p{Cc}/u)
    expect(line).not.toMatch(/(^|[^\\])[|`*]/)
    expect(line).not.toMatch(/^(\/|#|-|\+|>|=|:|\d+[.)])/)
    expect(line).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
  })

  it.each(HOSTILE.slice(0, 9))('does nothing at a host as a title: %j', (text) => {
    const title = plainTitle(text, 4_000)
    for (const [what, pattern] of ACTIVE)
      if (['mention', 'reference', 'tracker', 'directive'].includes(what)) expect(title, what).not.toMatch(pattern)
  })

  it.each([
    'Draft: a queue',
    '[Draft] a queue',
    '(draft) a queue',
    'WIP: a queue',
    'draft - a queue',
  ])('makes no draft as a title: %j', (text) => {
    const title = plainTitle(text, 100)
    expect(title).not.toMatch(/^\s*(\[draft\]|\(draft\)|draft:|draft -|wip:)/i)
    expect(title.replaceAll('\u200b', '')).toBe(text)
  })

  it('leaves a title that only speaks of drafts', () => {
    expect(plainTitle('Draft beer taps on an IoT hub', 100)).toBe('Draft beer taps on an IoT hub')
  })

  it('reads as it was written', () => {
    const shown = (text: string) =>
      inline(text, 4_000)
        .replaceAll('\u200b', '')
        .replaceAll(/\\(?=[!-/:-@[-`{-~])/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&')
    for (const text of [
      'Fixes #1 @me <b>&amp;</b> a|b [x](y) `z` *w* _v_ ~u~ $t$ \\s',
      '/close',
      '1. one',
      'snake_case_name stays',
    ])
      expect(shown(text)).toBe(text)
  })

  it('keeps ordinary prose readable', () => {
    expect(inline('Adds a bucket for the build logs (us-east-1), 50% cheaper; see modules/logs.')).toBe(
      'Adds a bucket for the build logs (us-east-1), 50% cheaper; see modules/logs.',
    )
    expect(inline('the aws_s3_bucket resource')).toBe('the aws_s3_bucket resource')
  })

  it('is cut before it is escaped, never inside of a character', () => {
    expect(inline('a|b|c|d', 4)).toBe('a\\|b…')
    expect(inline('ab😀cd', 4)).toBe('ab…')
    expect(inline('Keeps whole words', 14)).toBe('Keeps whole…')
    expect(inline('\ud800 alone')).toBe('\ufffd alone')
  })
})

describe('code', () => {
  it.each([
    'module.net["a.b"].aws_subnet.x[0]',
    'terraform_data.greeting (deposed object abcd1234)',
    'arn:aws:s3:::acme-logs',
    'arn:aws:sqs:eu-central-1:123456789012:invoices',
    'live/network/main.tf',
  ])('shows %s as it is', (text) => {
    expect(code(text)).toBe(`\`${text}\``)
  })

  it.each([
    'a.b["`; rm -rf"]',
    'a.b["@octocat"]',
    'a.b["x|y"]',
    'a.b["#1"]',
    'a.b["https://evil.example"]',
    'a.b["PROJ-1"]',
    'a.b["<b>"]',
  ])('shows %s as escaped text', (text) => {
    const shown = code(text)
    expect(shown).not.toMatch(/(^|[^\\])[`|]/)
    for (const [what, pattern] of ACTIVE) expect(shown, what).not.toMatch(pattern)
  })
})

describe('a title', () => {
  it('refers to nothing, also in the commit of a squash', () => {
    const title = plainTitle('Fixes #12: ping @octocat\nsee https://evil.example GH-3', 256)
    expect(title.replaceAll('\u200b', '')).toBe('Fixes #12: ping @octocat see https://evil.example GH-3')
    for (const [what, pattern] of ACTIVE) expect(title, what).not.toMatch(pattern)
  })

  it('stays untouched when there is nothing in it', () => {
    expect(plainTitle('Add a bucket for `logs`', 256)).toBe('Add a bucket for `logs`')
    expect(plainTitle('x'.repeat(300), 256)).toHaveLength(256)
    expect(plainTitle('\u200b\u2060', 256)).toBe('')
  })
})

describe('prose of a model', () => {
  it('keeps paragraphs, lists and code of one line', () => {
    expect(
      prose(
        'Adds **a** bucket.\n\n\n\n* `aws_s3_bucket.logs` for logs\n  - nested\n2) second\n\n# Why\nBecause.',
        4_000,
      ),
    ).toBe('Adds a bucket.\n\n- `aws_s3_bucket.logs` for logs\n  - nested\n2. second\n\n**Why**\nBecause.')
  })

  it.each(HOSTILE)('does nothing at a host: %j', (text) => {
    const shown = prose(text, 4_000)
    for (const [what, pattern] of ACTIVE) expect(shown, what).not.toMatch(pattern)
    expect(shown).not.toMatch(/^\s*(\/|#|>|\||---|===|::)/m)
    expect(shown).not.toContain('```')
  })

  it('opens no code that swallows what follows', () => {
    for (const text of [
      '```\nnever closed',
      '~~~\nx',
      'one ` alone',
      '<details>',
      '<!--',
      '    indented',
      '| a |\n|---|',
    ])
      expect(prose(text, 4_000)).not.toMatch(/^(`{3}|~{3}|<| {4}|\|)/m)
    expect(prose('one ` alone', 4_000)).toBe('one \\` alone')
  })

  it('stays within its limit', () => {
    for (const text of ['word '.repeat(10_000), 'line\n'.repeat(10_000), '*'.repeat(50_000), '@a'.repeat(9_000)])
      expect(prose(text, 500).length).toBeLessThanOrEqual(500)
    expect(prose('line\n'.repeat(10_000), 500)).toMatch(/…$/)
  })
})

it('a table has as many cells in each row as in its head', () => {
  expect(table(['a', 'b'], [[inline('x|y\nz'), '']])).toBe('| a | b |\n| --- | --- |\n| x\\|y z |  |')
})
