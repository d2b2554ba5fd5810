import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Status } from '../../client/api/types.ts'
import type { Address } from '../../client/use-address.ts'
import { statusName } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CLOUDS, MODES } from '../../ui/words/names.ts'
import { countFilters, type FilterName, filtersOf, type View } from './filters.ts'

const STATUSES: readonly Status[] = [
  'started',
  'filtering',
  'generating',
  'validating',
  'report',
  'apply',
  'completed',
  'uncompleted',
  'failed',
]
const MORE: readonly FilterName[] = ['operation', 'locked', 'repo_uri', 'created_after', 'created_before', 'user_email']
const TYPING_MS = 300

type Options = readonly (readonly [value: string, name: string])[]
const STATUS_OPTIONS: Options = STATUSES.map((status) => [status, statusName(status)])
const MODE_OPTIONS: Options = Object.entries(MODES)
const CLOUD_OPTIONS: Options = Object.entries(CLOUDS)

/** Every filter of the API. What is chosen stands in the address at once, what is typed a moment later. */
export function FilterBar({ view, address, clear }: { view: View; address: Address; clear: () => void }) {
  const count = countFilters(address.read, view)
  const more = countFilters(
    address.read,
    view,
    MORE.filter((name) => filtersOf(view).includes(name)),
  )
  const choice = (name: string, label: string, options: Options, all = 'All') => (
    <Choice name={name} label={label} all={all} options={options} address={address} />
  )
  return (
    <search class="sessions-filters">
      <div class="sessions-fields">
        <Typed name="search" label="Search" type="search" hint="Request, repository or id" address={address} />
        {choice('status', 'Status', STATUS_OPTIONS)}
        {choice('mode', 'Last round', MODE_OPTIONS)}
        {choice('cloud', 'Cloud', CLOUD_OPTIONS)}
        {choice('sort', 'Order', [['last_activity', 'Last active']], 'Newest')}
      </div>
      <details open={more > 0 || undefined}>
        <summary>More filters{more > 0 && ` (${more})`}</summary>
        <div class="sessions-fields">
          {choice('operation', 'First round', MODE_OPTIONS.slice(0, 3))}
          {choice('locked', 'Lock', [
            ['true', 'Locked'],
            ['false', 'Not locked'],
          ])}
          <Typed name="repo_uri" label="Repository" type="url" hint="Its whole address" address={address} />
          <Typed name="created_after" label="Created from" type="date" address={address} />
          <Typed name="created_before" label="Created before" type="date" address={address} />
          {view === 'all' && (
            <Typed name="user_email" label="Owner" type="text" hint="Part of the e-mail" address={address} />
          )}
        </div>
      </details>
      {count > 0 && (
        <Button small kind="quiet" onClick={clear}>
          Clear {count === 1 ? 'the filter' : `all ${count} filters`}
        </Button>
      )}
    </search>
  )
}

const Labelled = ({ name, label, children }: { name: string; label: string; children: ComponentChildren }) => (
  <div>
    <label class="small quiet" for={`sessions-${name}`}>
      {label}
    </label>
    {children}
  </div>
)

interface ChoiceProps {
  name: string
  label: string
  all: string
  options: Options
  address: Address
}

function Choice({ name, label, all, options, address }: ChoiceProps) {
  const value = address.read(name)
  const isKnown = value === '' || options.some(([option]) => option === value)
  return (
    <Labelled name={name} label={label}>
      <select
        id={`sessions-${name}`}
        value={value}
        onChange={({ currentTarget }) => address.change({ [name]: currentTarget.value })}
      >
        <option value="">{all}</option>
        {!isKnown && <option value={value}>Unknown: {value.slice(0, 40)}</option>}
        {options.map(([option, shown]) => (
          <option key={option} value={option}>
            {shown}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

interface TypedProps {
  name: string
  label: string
  type: 'search' | 'text' | 'url' | 'date'
  hint?: string
  address: Address
}

function Typed({ name, label, type, hint, address }: TypedProps) {
  const value = address.read(name)
  const [text, setText] = useState(value)
  const sent = useRef(value)
  // The address changes by itself as well: back, forward, and cleared filters.
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setText(value)
  }, [value])
  useEffect(() => {
    if (text.trim() === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text.trim()
      address.change({ [name]: sent.current }, { replace: value !== '' })
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <Labelled name={name} label={label}>
      <input
        id={`sessions-${name}`}
        type={type as 'text'}
        value={text}
        placeholder={hint}
        maxLength={name === 'repo_uri' ? 2048 : 200}
        autocomplete="off"
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </Labelled>
  )
}
