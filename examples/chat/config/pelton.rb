# frozen_string_literal: true

# The server's settings: see pelton serve --help.
port ENV.fetch("PORT", 9292)
workers ENV.fetch("WORKERS", (ENV["RACK_ENV"] == "production") ? 2 : 0)

on_boot { BACKGROUND.start }
