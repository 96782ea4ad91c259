# frozen_string_literal: true

require_relative "../../support/merging_program"

# Random operations on merged models, beside a model of the table (support/merging_model.rb).
class MergingModelTest < PeltonTest
  include MergingProgram

  OPERATIONS = Integer(ENV.fetch("MERGING_OPERATIONS", "600")) # on each database
  self.deadline = 120 + OPERATIONS / 20

  on_each_database "each_answer_is_that_of_the_model" do |database|
    seed = Minitest.seed
    program = File.read(File.expand_path("../../support/merging_model.rb", __dir__))
    output = active_record_output("#{PEOPLE}\n#{program}", database, seed, OPERATIONS, pool: 8, checkout_timeout: 30,
      deadline: deadline)

    assert_equal "operations: true, joined: true, right: true, rows: true\n", output, "seed #{seed}"
  end

  private

  def deadline = self.class.deadline
end
