# frozen_string_literal: true

# What an experiment with web servers needs: how they start, what measures them, and their clients.
require_relative "web/load"
require_relative "web/programs"
require_relative "web/server"
