import 'preact/compat'
import type { Ref } from 'preact'

// The router's declarations use these types of React, which `preact/compat` lacks. Without them no link is checked.
declare module 'preact/compat' {
  type LazyExoticComponent<Component> = Component
  type ComponentRef<Component> = Component extends new (props: never) => infer Instance ? Instance : Ref<unknown>
}
