# frozen_string_literal: true

require_relative "site/application"

run Rails.application
