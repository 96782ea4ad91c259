# frozen_string_literal: true

# Signs up. The form reveals which addresses have an account, ten times an hour. If that must stay secret, send
# a mail with a link to continue to every address, and respond the same way each time.
class SignUpsController < ApplicationController
  rate_limit to: 10, within: 3600, only: :create

  def new
    @user = User.new
  end

  # The first user is the administrator. With SIGN_UP_CODE only those who know it sign up.
  def create
    @user = User.new(params.require(:user).permit(:name, :email, :password))
    code = ENV["SIGN_UP_CODE"]
    return refuse if code && !Pelton::Web::Password.same?(code, params.string(:code, default: "", max: 200))
    @user.admin! if User.empty?
    return render(:new, status: 422) unless @user.save_or_explain
    Room.kind_open.order(:id).first&.join(@user)
    sign_in(@user)
    redirect_to after_sign_in_path, notice: @user.admin? ? "Welcome. You are the administrator." : "Welcome."
  end

  private

  def refuse
    flash.now[:alert] = "Ask for an invitation: the code is wrong."
    render :new, status: 422
  end
end
