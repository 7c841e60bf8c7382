import type { ReactNode } from 'react';
export function RunsScreen(): ReactNode { return null; }
