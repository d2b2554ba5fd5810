import type { ComponentChildren } from 'preact'
import { plural } from '../../../ui/words/format.ts'
import type { Layout, useLayout } from './use-layout.ts'

interface ToolsProps {
  view: ReturnType<typeof useLayout>
  viewed: number
  children: ComponentChildren
}

const LAYOUTS: [Layout, string][] = [
  ['unified', 'Unified'],
  ['split', 'Side by side'],
]

/** How the files are shown. */
export const Tools = ({ view: { layout, wide, choose }, viewed, children }: ToolsProps) => (
  <div class="code-tools">
    {viewed > 0 && <span class="quiet small">{plural(viewed, 'file')} viewed</span>}
    {children}
    {wide && (
      <fieldset class="code-layouts">
        <legend class="unseen">Layout of the changes</legend>
        {LAYOUTS.map(([value, name]) => (
          <label key={value}>
            <input
              type="radio"
              name="code-layout"
              value={value}
              checked={layout === value}
              onChange={() => choose(value)}
            />
            {name}
          </label>
        ))}
      </fieldset>
    )}
  </div>
)
