# frozen_string_literal: true

require "pg"
require "test_helper"
require "trilogy"
require_relative "../audit/audit"

# `rake sequel:audit` for as long as it takes to make each fault once.
class DatabaseAuditTest < PeltonTest
  self.deadline = 120

  DatabaseAudit::Audit::KINDS.each do |kind|
    define_method("test_nothing_is_lost_under_faults_of_#{kind}") do
      audit = DatabaseAudit::Audit.new(kind, seconds: 0, seed: Minitest.seed || rand(1000), deadline: 0.4).run

      assert_empty audit.problems
      assert_operator audit.ends["acknowledged"], :>, 10
      refute audit.faults.value?(0)
    end
  end
end
