import { Bot, Download, Sparkles, UserRound, type LucideIcon } from 'lucide-react';
import type { Author } from '#shared/contract/skills.ts';

/** Who made something, as an icon; its name is `author.*`. */
export const AUTHOR_ICONS: Record<Author, LucideIcon> = { person: UserRound, agent: Bot, review: Sparkles, import: Download };
