import { describe, expect, it } from 'vitest'
import { composeDescription } from '../../../src/pull-requests/evidence/compose.ts'
import type { Evidence } from '../../../src/pull-requests/evidence/evidence.ts'
import { emptyResult } from '../../../src/rounds/round-result.ts'
import { changeListOf, evidenceOf, evidenceWith, generateReport, lost, report, sectionOf } from './fixtures.ts'

const textOf = (evidence: Evidence, limit = 65_536) => composeDescription('Why.', evidence, { limit, session_url: '' })
const partOf = (evidence: Evidence, title: string) => sectionOf(textOf(evidence), title)
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
  { address: 'aws_iam_role.gone', action: 'delete' },
  { address: 'module.b.aws_db_instance.new', action: 'move', previous_address: 'aws_db_instance.old' },
  { address: 'aws_vpc.one[0]', action: 'move', previous_address: 'aws_vpc.one' },
  { address: 'aws_vpc.new', action: 'update', previous_address: 'aws_vpc.old' },
  { address: 'aws_subnet.a', action: 'replace', replace_paths: ['cidr_block', 'tags["a b"]'] },
  { address: 'aws_subnet.b', action: 'replace', replace_reason: 'replace_because_tainted' },
  { address: 'aws_subnet.c', action: 'replace', replace_reason: 'replace_by_triggers', keeps_old: true },
  { address: 'aws_vpc.kept', action: 'forget' },
])

describe('Plan', () => {
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
        '| delete | `aws_iam_role.gone` |  |',
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

describe('How to roll back', () => {
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
    const after = rollBackOf(evidenceWith({ changes: EVERY }, { apply: applied('Failed') }))
    expect(after).toContain('see above what is known of the apply')
    expect(after).not.toContain('That is enough')
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
    const within = (limit: number) => sectionOf(textOf(evidence, limit), 'How to roll back')
    expect(within(65_536)).toContain('- and 10 more')
    expect(within(4_000)).toMatch(/in place of the present ones: 30 objects\.|and 25 more/)
    expect(textOf(evidence, 4_000).length).toBeLessThanOrEqual(4_000)
  })
})

describe('Assumptions', () => {
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

describe('Drift', () => {
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
