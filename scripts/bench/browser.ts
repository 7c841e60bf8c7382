import { chromium, type Page } from '@playwright/test';
import { findChromium } from '../lib/chromium.mjs';
import type { Ground } from './ground.ts';

/** A page of the size of a usual window; its browser goes with the ground. */
export async function openBrowser(ground: Ground): Promise<Page> {
  const executablePath = await findChromium({ install: false });
  const browser = await chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    // or Playwright would end this process before the rest is cleared
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  ground.defer(() => browser.close());
  return browser.newPage({ viewport: { width: 1440, height: 900 } });
}
